# Diagnostics of profile. README.md says how this is read.

#% profile.table shell
printf 'engine,start_ts\nTensor,0\n' > t.csv ; trnemu compare-profile t.csv t.csv  # fix: printf 'engine,opcode,start_ts,duration_ns\nTensor,MATMUL,0,9\n' > t.csv ; trnemu compare-profile t.csv t.csv
