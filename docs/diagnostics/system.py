# Diagnostics of system. README.md says how this is read.

#% system.file shell
trnemu info --system trn2.48xlarge --only description > mine.textproto
sed -i 's/torus { value: 4 /torus { value: 3 /' mine.textproto  # fix: sed -i 's/bandwidth { value: 256 /bandwidth { value: 320 /' mine.textproto
trnemu info --system mine.textproto
