# Diagnostics of link. README.md says how this is read.

#% link.unreachable shell
trnemu info --system trn2.48xlarge --fail-link 0-1 0-3 0-4 0-12  # fix: trnemu info --system trn2.48xlarge --fail-link 0-1 0-3 0-4
