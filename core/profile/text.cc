// A profile on a terminal.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/profile/report.h"

namespace trnemu {
namespace {

constexpr size_t kWidth = 78;
constexpr size_t kMostCauses = 8;
constexpr size_t kMostOperations = 8;

std::string TimeText(Ticks t) {
  const double ns = static_cast<double>(t) / kTicksPerNs;
  if (ns < 1e4) return absl::StrFormat("%.1f ns", ns);
  if (ns < 1e7) return absl::StrFormat("%.2f us", ns / 1e3);
  if (ns < 1e10) return absl::StrFormat("%.3f ms", ns / 1e6);
  return absl::StrFormat("%.3f s", ns / 1e9);
}

std::string BytesText(double bytes) {
  if (bytes < 10240) return absl::StrFormat("%.0f bytes", bytes);
  if (bytes < 1024.0 * 1024) return absl::StrFormat("%.1f KiB", bytes / 1024);
  return absl::StrFormat("%.1f MiB", bytes / (1024.0 * 1024));
}

// Words in lines of kWidth, each indented.
void AppendWrapped(std::string& text, std::string_view words,
                   std::string_view indent) {
  std::string line(indent);
  size_t at = 0;
  while (at < words.size()) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, end - at);
    if (line.size() + word.size() > kWidth && line.size() > indent.size()) {
      line.pop_back();
      absl::StrAppend(&text, line, "\n");
      line = indent;
    }
    line.append(word);
    line += ' ';
    at = end + 1;
  }
  line.pop_back();
  absl::StrAppend(&text, line, "\n");
}

class Writer {
 public:
  explicit Writer(const ProfileReport& report) : report_(report) {}

  std::string Do() {
    Head();
    Engines();
    Idle();
    Path();
    Operations();
    Recommendations();
    while (!text_.empty() && text_.back() == '\n') text_.pop_back();
    return std::move(text_);
  }

 private:
  double M(std::string_view name) const { return report_.metric(name); }
  double Percent(Ticks t) const { return 100 * report_.ShareOf(t); }

  void Head() {
    absl::StrAppendFormat(&text_, "target     %s\n", report_.hardware->name);
    if (!report_.hardware_changes.empty()) {
      absl::StrAppend(&text_, "hardware   ",
                      ChangesText(report_.hardware_changes, 11));
    }
    absl::StrAppendFormat(&text_, "time       %s\n", TimeText(report_.end));
    absl::StrAppendFormat(
        &text_,
        "tensor     mfu %.1f%%, hfu %.1f%%, transposes %.1f%% "
        "of its flops, throttled %.1f%% of its busy time\n",
        100 * M("mfu_estimated_percent"), 100 * M("hfu_estimated_percent"),
        100 * M("transpose_flops_percent"), 100 * M("throttled_time_percent"));
    absl::StrAppendFormat(
        &text_, "HBM        read %s, written %s, mbu %.1f%%\n",
        BytesText(M("hbm_read_bytes")), BytesText(M("hbm_write_bytes")),
        100 * M("mbu_estimated_percent"));
    const bool flops = M("model_flops") > 0;
    if (flops && M("hbm_read_bytes") + M("hbm_write_bytes") == 0) {
      absl::StrAppend(&text_,
                      "intensity  no HBM traffic, so that memory sets "
                      "no bound\n");
    } else if (flops) {
      const double ridge = M("peak_flops_bandwidth_ratio");
      const double intensity = M("mm_arithmetic_intensity");
      absl::StrAppendFormat(
          &text_, "intensity  %.1f flops a byte; %s bound below %.1f\n",
          intensity, "memory", ridge);
    }
    absl::StrAppendFormat(&text_,
                          "DMA        %.0f transfers of %s on average, "
                          "descriptors of %s\n",
                          M("dma_transfer_count"),
                          BytesText(M("dma_transfer_average_bytes")),
                          BytesText(M("dma_descriptor_average_bytes")));
  }

  void Engines() {
    const bool cores = report_.program->cores.size() > 1;
    absl::StrAppend(&text_, "\n", cores ? "core  " : "",
                    "engine    instructions        busy    active      "
                    "waiting\n");
    for (const EngineTotals& e : report_.engines) {
      if (cores) absl::StrAppendFormat(&text_, "%4d  ", e.core);
      const bool dma = e.engine == Engine::kDma;
      absl::StrAppendFormat(&text_, "%-8s  %12d %11s    %5.1f%% %12s\n",
                            std::string(Name(e.engine)), e.instructions,
                            TimeText(e.busy), Percent(e.active),
                            dma ? "" : TimeText(e.waiting));
      while (text_[text_.size() - 2] == ' ') text_.erase(text_.size() - 2, 1);
    }
  }

  void Idle() {
    if (report_.stall_totals.empty()) return;
    absl::StrAppend(&text_,
                    "\nidle, waiting for          times        total  "
                    "of time\n");
    const bool cores = report_.program->cores.size() > 1;
    size_t shown = 0;
    for (const CauseTotal& t : report_.stall_totals) {
      if (++shown > kMostCauses) break;
      const std::string who = absl::StrCat(
          cores ? absl::StrCat("core ", t.core, " ") : "",
          std::string(Name(t.engine)), ": ", std::string(Name(t.cause)));
      absl::StrAppendFormat(&text_, "%-24s %7d %12s   %5.1f%%\n", who, t.count,
                            TimeText(t.total), Percent(t.total));
    }
  }

  void Path() {
    absl::StrAppend(&text_,
                    "\ncritical path              steps        total  "
                    "of time\n");
    for (const CauseTotal& t : report_.critical_totals) {
      absl::StrAppendFormat(&text_, "%-24s %7d %12s   %5.1f%%\n",
                            std::string(Name(t.cause)), t.count,
                            TimeText(t.total), Percent(t.total));
    }
  }

  void Operations() {
    absl::StrAppend(&text_,
                    "\noperation                   uses         busy  "
                    "of time\n");
    size_t shown = 0;
    for (const OperationTotal& t : report_.operations) {
      if (++shown > kMostOperations) break;
      absl::StrAppendFormat(&text_, "%-24s %7d %12s   %5.1f%%\n", t.operation,
                            t.count, TimeText(t.busy), Percent(t.busy));
    }
  }

  void Recommendations() {
    if (report_.recommendations.empty()) {
      absl::StrAppend(&text_,
                      "\nNo rule found anything that would save 3% of "
                      "the time or more.\n");
      return;
    }
    int n = 0;
    for (const Recommendation& r : report_.recommendations) {
      absl::StrAppendFormat(&text_, "\n%d. %s (%s; at most %s, %.0f%%)\n", ++n,
                            r.title, r.id, TimeText(r.saves), Percent(r.saves));
      AppendWrapped(text_, r.text, "   ");
      AppendWrapped(text_, "Seen: " + r.evidence + ".", "   ");
    }
  }

  const ProfileReport& report_;
  std::string text_;
};

}  // namespace

std::string ProfileText(const ProfileReport& report) {
  return Writer(report).Do();
}

}  // namespace trnemu
