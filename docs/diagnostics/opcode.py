# Diagnostics of opcode. README.md says how this is read.

#% opcode.engine
text = open("k.txt").read()
text = text.replace("  vector #2", "  sync #2")  # fix: leave out
r = trnemu.run(trnemu.Program.from_text(text), {"x": np.ones((4, 8), np.float32)})
