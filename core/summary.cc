// The table that a run prints.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/run.h"

namespace trnemu {
namespace {

std::string TimeText(double ns) {
  if (ns < 1e4) return absl::StrFormat("%.1f ns", ns);
  if (ns < 1e7) return absl::StrFormat("%.2f us", ns / 1e3);
  if (ns < 1e10) return absl::StrFormat("%.3f ms", ns / 1e6);
  return absl::StrFormat("%.3f s", ns / 1e9);
}

void AppendEngines(const RunResult& r, std::string& text) {
  const double end = static_cast<double>(r.profile.end);
  absl::StrAppend(&text, "engine    instructions",
                  r.timed ? "        busy     of time    waiting\n" : "\n");
  for (size_t e = 0; e < r.profile.engines.size(); ++e) {
    const EngineProfile& p = r.profile.engines[e];
    if (p.instructions == 0) continue;
    const bool dma = static_cast<Engine>(e) == Engine::kDma;
    // Sixteen DMA engines share the work.
    const double busy = static_cast<double>(p.busy) / (dma ? 16 : 1);
    absl::StrAppendFormat(&text, "%-8s  %12d", std::string(kEngineNames[e]),
                          p.instructions);
    if (r.timed) {
      absl::StrAppendFormat(&text, " %11s      %5.1f%%",
                            TimeText(busy / kTicksPerNs),
                            end > 0 ? 100 * busy / end : 0.0);
      if (!dma) {
        absl::StrAppendFormat(
            &text, " %10s",
            TimeText(static_cast<double>(p.waiting) / kTicksPerNs));
      }
    }
    text += '\n';
  }
}

}  // namespace

std::string Summary(const RunResult& r) {
  std::string text;
  absl::StrAppendFormat(&text, "target        %s\n", r.target);
  absl::StrAppendFormat(&text, "time          %s\n",
                        r.timed ? TimeText(r.time_ns) : "not simulated");
  absl::StrAppendFormat(&text, "instructions  %d\n", r.profile.instructions);
  if (r.timed) {
    absl::StrAppendFormat(&text,
                          "DMA           %d bytes (HBM read %d, written %d)\n",
                          r.profile.dma_bytes, r.profile.hbm_read_bytes,
                          r.profile.hbm_write_bytes);
  }
  AppendEngines(r, text);
  int64_t warnings = 0;
  for (const Diagnostic& d : r.diagnostics) {
    if (d.severity == Severity::kWarning) ++warnings;
  }
  if (warnings > 0)
    absl::StrAppendFormat(&text, "warnings      %d\n", warnings);
  for (const std::string& id : r.allowed) {
    absl::StrAppendFormat(&text, "allowed       %s\n", id);
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace trnemu
