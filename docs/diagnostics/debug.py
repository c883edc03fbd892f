# Diagnostics of breakpoints and watches. README.md says how this is read.

#% debug.ended
p = trnemu.Program.load("k.trn")
d = trnemu.debug(p, {"x": np.ones((4, 8), np.float32)})
d.run_until("tensor_scalar")
r = d.result()  # goes on to the end
d.step()  # fix: leave out

#% debug.place
p = trnemu.Program.load("k.trn")
d = trnemu.debug(p, {"x": np.ones((4, 8), np.float32)})
d.run_until("tensor_scaler")  # fix: d.run_until("tensor_scalar")

#% debug.stopped shell
trnemu run k.trn --input x=x.npy --break 2 --stop  # fix: trnemu run k.trn --input x=x.npy --break 2
