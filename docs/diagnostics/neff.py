# Diagnostics of neff. README.md says how this is read.

#% neff shell
head -c 1281 /dev/zero > model.neff
printf 'ustar' >> model.neff
trnemu run model.neff --input x=x.npy  # fix: trnemu run k.trn --input x=x.npy
