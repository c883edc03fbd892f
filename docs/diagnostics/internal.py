# Diagnostics of internal. README.md says how this is read.

#% internal.collective
#! A bug in trnemu; no program is known that reports it.

#% internal.collective_check
#! A bug in trnemu; no program is known that reports it.

#% internal.collective_problem
#! A bug in trnemu; no program is known that reports it.

#% internal.collective_shape
#! A bug in trnemu; no program is known that reports it.

#% internal.exception
#! A bug in trnemu; no program is known that reports it.

#% internal.exchange
#! A bug in trnemu; no program is known that reports it.

#% internal.output
#! A bug in trnemu; no program is known that reports it.

#% internal.register_instruction
#! A bug in trnemu; no program is known that reports it.

#% internal.schema
#! A bug in trnemu; no program is known that reports it.

#% internal.status
#! A bug in trnemu; no program is known that reports it.
