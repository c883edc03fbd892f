// Chrome's trace events (JSON array format inside an object), which Perfetto
// opens. Times are written in microseconds; starts and ends are whole
// nanoseconds, so that slices of a track stay apart.
#ifndef TRNEMU_CORE_PROFILE_TRACE_WRITER_H_
#define TRNEMU_CORE_PROFILE_TRACE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/profile/report.h"
#include "core/run.h"

namespace trnemu {

inline int64_t TraceNs(Ticks t) { return (t + 500'000) / 1'000'000; }

class TraceWriter {
 public:
  struct Place {
    int process = 0, thread = 0;
    int64_t start = 0;  // ns
  };

  // `about`: members of otherData.
  explicit TraceWriter(std::string_view about);

  // `args`: members of an object. Slices of a thread must not overlap.
  void Slice(const Place& at, int64_t end, std::string_view name,
             std::string_view category, std::string_view args);
  void Arrow(std::string_view category, const Place& from, const Place& to);
  void Counter(int process, int64_t at, std::string_view name,
               std::string_view unit, std::string_view value);
  void NameProcess(int process, std::string_view name, int sort);
  void NameThread(int process, int thread, std::string_view name);
  std::string Finish() &&;

 private:
  void Open();

  std::string json_;
  bool first_ = true;
  int64_t next_flow_ = 1;
};

// Where a rank's profile goes in a trace of several.
struct TraceRank {
  int first_process = 0;  // of kTraceProcesses that are its own
  int first_sort = 0;
  std::string prefix;  // of its processes' names: "rank 3, "
};
inline constexpr int kTraceProcesses = 1000;
void AddProfile(const ProfileReport& report, const TraceRank& rank,
                TraceWriter& out);

}  // namespace trnemu

#endif  // TRNEMU_CORE_PROFILE_TRACE_WRITER_H_
