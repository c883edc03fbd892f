// Ctrl-C while a program runs.
#ifndef TRNEMU_FRONTEND_CLI_INTERRUPT_H_
#define TRNEMU_FRONTEND_CLI_INTERRUPT_H_

#include <csignal>

namespace trnemu::cli {

// While one exists, Ctrl-C asks the run to stop; a second one ends the process.
// So does what mpirun sends its processes when it is interrupted.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

 private:
  struct sigaction before_, before_term_;
};

// Since the last scope began; stays true after it.
bool Interrupted();

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_INTERRUPT_H_
