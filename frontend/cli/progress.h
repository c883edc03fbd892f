// A line on the terminal while something takes longer than a second.
#ifndef TRNEMU_FRONTEND_CLI_PROGRESS_H_
#define TRNEMU_FRONTEND_CLI_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace trnemu::cli {

// From construction to Stop (or destruction) it says what is being done and
// for how many seconds; nothing where standard error is no terminal. The line
// is gone when it stops.
class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Stop(); }

  void Say(std::string what);
  void Stop();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_PROGRESS_H_
