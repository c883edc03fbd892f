#include "core/profile/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/profile/columns.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

// How many instructions of one side may be missing on the other in a row.
constexpr size_t kWindow = 64;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}
std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

std::string EngineOf(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"pe", "tensor"},          {"act", "scalar"}, {"activation", "scalar"},
      {"pool", "gpsimd"},        {"dve", "vector"}, {"sp", "sync"},
      {"tensormatrix", "tensor"}};
  const std::string lower = Lower(name);
  const auto found = kNames.find(lower);
  return found == kNames.end() ? lower : found->second;
}

absl::Status Malformed(const std::string& message) {
  Diagnostic d;
  d.category = Category::kMalformed;
  d.id = "profile.table";
  d.message = message;
  d.remedy =
      "give a table Instruction as the vendor's profiler exports it, with the "
      "columns engine, opcode, start_ts and duration_ns";
  return ToStatus(std::move(d));
}

// The fields of RFC 4180's records; quotes may hold commas and line ends.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }
  // False at the end. Empty lines are passed over.
  bool Next(std::vector<std::string>& fields) {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
      line_ += text_[at_++] == '\n' ? 1 : 0;
    }
    if (at_ >= text_.size()) return false;
    first_line_ = line_;
    fields.assign(1, "");
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      line_ += c == '\n' ? 1 : 0;
      if (quoted) {
        if (c != '"') {
          fields.back() += c;
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          fields.back() += text_[++at_];
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',') {
        fields.emplace_back();
      } else if (c == '\n') {
        ++at_;
        break;
      } else if (c != '\r') {
        fields.back() += c;
      }
    }
    return true;
  }
  int64_t line() const { return first_line_; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1, first_line_ = 1;
};

class TableReader {
 public:
  TableReader(std::string_view csv,
              const std::map<std::string, std::string>& renames)
      : csv_(csv) {
    for (const auto& [theirs, ours] : renames) {
      renames_[Upper(theirs)] = Upper(ours);
    }
  }

  absl::StatusOr<std::vector<TableInstruction>> Do() {
    if (!csv_.Next(fields_)) return Malformed("the table is empty");
    absl::Status status = ReadHeader();
    if (!status.ok()) return status;
    std::vector<TableInstruction> rows;
    const size_t width = fields_.size();
    while (csv_.Next(fields_)) {
      if (fields_.size() != width) {
        return Malformed(absl::StrCat("line ", csv_.line(), " has ",
                                      fields_.size(), " fields, the header ",
                                      width,
                                      ": the table is cut off or is "
                                      "none"));
      }
      rows.emplace_back();
      status = ReadRow(rows.back());
      if (!status.ok()) return status;
    }
    return rows;
  }

 private:
  absl::Status ReadHeader() {
    for (size_t i = 0; i < fields_.size(); ++i) columns_[fields_[i]] = i;
    for (const char* name : {"engine", "opcode", "start_ts"}) {
      if (columns_.count(name) > 0) continue;
      return Malformed(absl::StrCat("the table has no column ", name));
    }
    if (columns_.count("duration_ns") + columns_.count("end_ts") == 0) {
      return Malformed("the table has no column duration_ns, and no end_ts");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<double> Number(const std::string& column) {
    const size_t i = columns_.at(column);
    const std::string text = i < fields_.size() ? fields_[i] : "";
    double value = 0;
    const auto [at, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && at == text.data() + text.size() &&
        std::isfinite(value)) {
      return value;
    }
    return Malformed(absl::StrCat("line ", csv_.line(), ": ", column,
                                  " must be a number, not \"", text, "\""));
  }

  absl::Status ReadRow(TableInstruction& row) {
    const auto text = [this](const char* column) {
      const size_t i = columns_.at(column);
      return i < fields_.size() ? fields_[i] : std::string();
    };
    row.engine = EngineOf(text("engine"));
    row.opcode = Upper(text("opcode"));
    if (const auto found = renames_.find(row.opcode); found != renames_.end()) {
      row.opcode = found->second;
    }
    const absl::StatusOr<double> start = Number("start_ts");
    if (!start.ok()) return start.status();
    row.start = *start;
    const bool has_duration = columns_.count("duration_ns") > 0;
    const absl::StatusOr<double> last =
        Number(has_duration ? "duration_ns" : "end_ts");
    if (!last.ok()) return last.status();
    row.duration = has_duration ? *last : *last - row.start;
    if (row.duration < 0) {
      return Malformed(absl::StrCat(
          "line ", csv_.line(), ": ",
          has_duration ? "duration_ns is negative"
                       : "end_ts is before start_ts",
          ", ", fields_[columns_.at(has_duration ? "duration_ns" : "end_ts")]));
    }
    if (columns_.count("pcore_idx") == 0 || text("pcore_idx").empty()) {
      return absl::OkStatus();
    }
    const absl::StatusOr<double> core = Number("pcore_idx");
    if (!core.ok()) return core.status();
    row.core = static_cast<int>(*core);
    return absl::OkStatus();
  }

  CsvReader csv_;
  std::map<std::string, std::string> renames_;
  std::vector<std::string> fields_;
  std::map<std::string, size_t> columns_;
};

using StreamKey = std::pair<int, std::string>;
using Streams = std::map<StreamKey, std::vector<int>>;

void Sort(std::vector<TableInstruction>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TableInstruction& a, const TableInstruction& b) {
                     return std::tie(a.core, a.engine, a.start) <
                            std::tie(b.core, b.engine, b.start);
                   });
}

// The rows of each stream whose opcodes the other table's stream has.
Streams StreamsOf(const std::vector<TableInstruction>& rows,
                  const std::vector<TableInstruction>& other) {
  std::set<std::tuple<int, std::string, std::string>> known;
  for (const TableInstruction& r : other) {
    known.insert({r.core, r.engine, r.opcode});
  }
  Streams streams;
  for (size_t i = 0; i < rows.size(); ++i) {
    const TableInstruction& r = rows[i];
    if (known.count({r.core, r.engine, r.opcode}) == 0) continue;
    streams[{r.core, r.engine}].push_back(static_cast<int>(i));
  }
  return streams;
}

class Matcher {
 public:
  explicit Matcher(TableComparison& c)
      : c_(c), partner_(c.ours.size(), -1), taken_(c.theirs.size(), false) {}

  void Do() {
    const Streams ours = StreamsOf(c_.ours, c_.theirs);
    const Streams theirs = StreamsOf(c_.theirs, c_.ours);
    for (const auto& [key, rows] : ours) {
      const auto other = theirs.find(key);
      if (other != theirs.end()) Align(rows, other->second);
    }
    Merge();
  }

 private:
  bool Same(int ours, int theirs) const {
    return c_.ours[static_cast<size_t>(ours)].opcode ==
           c_.theirs[static_cast<size_t>(theirs)].opcode;
  }

  // In order; where opcodes differ, the fewest are left out until they are the
  // same again.
  void Align(const std::vector<int>& a, const std::vector<int>& b) {
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (Same(a[i], b[j])) {
        partner_[static_cast<size_t>(a[i])] = b[j];
        taken_[static_cast<size_t>(b[j])] = true;
        ++i;
        ++j;
        continue;
      }
      const auto [skip_a, skip_b] = FindNext(a, i, b, j);
      i += skip_a;
      j += skip_b;
    }
  }

  std::pair<size_t, size_t> FindNext(const std::vector<int>& a, size_t i,
                                     const std::vector<int>& b,
                                     size_t j) const {
    for (size_t sum = 1; sum <= 2 * kWindow; ++sum) {
      for (size_t x = sum > kWindow ? sum - kWindow : 0;
           x <= std::min(sum, kWindow); ++x) {
        const size_t y = sum - x;
        if (i + x < a.size() && j + y < b.size() && Same(a[i + x], b[j + y])) {
          return {x, y};
        }
      }
    }
    return {1, 1};
  }

  // Rows of both in the order of ours; what only they have goes before the
  // next of theirs that matches, or at the end of its stream.
  void Merge() {
    size_t j = 0;
    const auto key = [](const TableInstruction& r) {
      return std::tie(r.core, r.engine);
    };
    for (size_t i = 0; i < c_.ours.size(); ++i) {
      const int partner = partner_[i];
      const auto unmatched_before = [&] {
        if (partner >= 0) return j < static_cast<size_t>(partner);
        return j < c_.theirs.size() && key(c_.theirs[j]) < key(c_.ours[i]);
      };
      while (unmatched_before()) {
        if (!taken_[j]) c_.rows.push_back({-1, static_cast<int>(j)});
        ++j;
      }
      c_.rows.push_back({static_cast<int>(i), partner});
      if (partner >= 0) {
        ++c_.matched;
        j = static_cast<size_t>(partner) + 1;
      }
    }
    for (; j < c_.theirs.size(); ++j) {
      if (!taken_[j]) c_.rows.push_back({-1, static_cast<int>(j)});
    }
  }

  TableComparison& c_;
  std::vector<int> partner_;
  std::vector<bool> taken_;
};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double SpanOf(const std::vector<TableInstruction>& rows) {
  if (rows.empty()) return 0;
  double from = rows[0].start, to = from;
  for (const TableInstruction& r : rows) {
    from = std::min(from, r.start);
    to = std::max(to, r.start + r.duration);
  }
  return to - from;
}

void AddErrors(TableComparison& c) {
  std::map<std::pair<std::string, std::string>, OpcodeComparison> opcodes;
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  std::vector<double> all;
  for (const MatchedRow& m : c.rows) {
    const TableInstruction& any = m.ours >= 0
                                      ? c.ours[static_cast<size_t>(m.ours)]
                                      : c.theirs[static_cast<size_t>(m.theirs)];
    OpcodeComparison& o = opcodes[{any.engine, any.opcode}];
    o.engine = any.engine;
    o.opcode = any.opcode;
    o.ours += m.ours >= 0 ? 1 : 0;
    o.theirs += m.theirs >= 0 ? 1 : 0;
    if (m.ours < 0 || m.theirs < 0) continue;
    const double ours = c.ours[static_cast<size_t>(m.ours)].duration;
    const double theirs = c.theirs[static_cast<size_t>(m.theirs)].duration;
    ++o.matched;
    o.ours_ns += ours;
    o.theirs_ns += theirs;
    if (theirs == 0) {
      ++c.without_duration;
      continue;
    }
    const double error = ours / theirs - 1;
    errors[{any.engine, any.opcode}].push_back(error);
    all.push_back(error);
    if (std::abs(error) > std::abs(o.worst_error)) o.worst_error = error;
  }
  const auto absolute = [](std::vector<double> values) {
    for (double& v : values) v = std::abs(v);
    return values;
  };
  for (auto& [key, o] : opcodes) {
    o.median_error = Median(absolute(errors[key]));
    o.mean_error = Mean(errors[key]);
    c.opcodes.push_back(o);
  }
  std::stable_sort(c.opcodes.begin(), c.opcodes.end(),
                   [](const OpcodeComparison& a, const OpcodeComparison& b) {
                     return a.theirs_ns > b.theirs_ns;
                   });
  c.median_error = Median(absolute(all));
  c.mean_error = Mean(all);
}

}  // namespace

absl::StatusOr<std::vector<TableInstruction>> ReadInstructionTable(
    std::string_view csv, const std::map<std::string, std::string>& renames) {
  return TableReader(csv, renames).Do();
}

TableComparison CompareTables(std::vector<TableInstruction> ours,
                              std::vector<TableInstruction> theirs) {
  TableComparison c;
  c.ours = std::move(ours);
  c.theirs = std::move(theirs);
  Sort(c.ours);
  Sort(c.theirs);
  Matcher(c).Do();
  AddErrors(c);
  c.ours_span = SpanOf(c.ours);
  c.theirs_span = SpanOf(c.theirs);
  return c;
}

std::string ComparisonText(const TableComparison& c) {
  std::string text =
      absl::StrFormat("matched    %d of our %d instructions and of their %d\n",
                      c.matched, c.ours.size(), c.theirs.size());
  absl::StrAppendFormat(&text, "span       ours %.0f ns, theirs %.0f ns",
                        c.ours_span, c.theirs_span);
  if (c.theirs_span > 0) {
    absl::StrAppendFormat(&text, " (%+.1f%%)",
                          100 * (c.ours_span / c.theirs_span - 1));
  }
  absl::StrAppendFormat(&text,
                        "\nerror      median %.1f%%, mean %+.1f%% of the "
                        "durations that match\n",
                        100 * c.median_error, 100 * c.mean_error);
  if (c.without_duration > 0) {
    absl::StrAppend(&text, c.without_duration,
                    " of them have a duration of 0 in theirs, and so no "
                    "error\n");
  }
  absl::StrAppend(&text,
                  "\nengine   opcode                   matched    ours "
                  "ns  theirs ns  median    mean   worst\n");
  std::string apart;
  for (const OpcodeComparison& o : c.opcodes) {
    if (o.matched > 0) {
      const auto n = static_cast<double>(o.matched);
      absl::StrAppendFormat(
          &text, "%-8s %-24s %7d %10.1f %10.1f %6.1f%% %+6.1f%% %+6.1f%%\n",
          o.engine, o.opcode, o.matched, o.ours_ns / n, o.theirs_ns / n,
          100 * o.median_error, 100 * o.mean_error, 100 * o.worst_error);
    }
    if (o.ours > o.matched) {
      absl::StrAppend(&apart, "only ours    ", o.engine, " ", o.opcode, ": ",
                      o.ours - o.matched, " of ", o.ours, "\n");
    }
    if (o.theirs > o.matched) {
      absl::StrAppend(&apart, "only theirs  ", o.engine, " ", o.opcode, ": ",
                      o.theirs - o.matched, " of ", o.theirs, "\n");
    }
  }
  if (!apart.empty()) absl::StrAppend(&text, "\n", apart);
  text.pop_back();
  return text;
}

std::string ComparisonCsv(const TableComparison& c) {
  std::string csv =
      "pcore_idx,engine,opcode,ours_start_ns,ours_duration_ns,"
      "theirs_start_ns,theirs_duration_ns,error\n";
  for (const MatchedRow& m : c.rows) {
    const TableInstruction* ours =
        m.ours >= 0 ? &c.ours[static_cast<size_t>(m.ours)] : nullptr;
    const TableInstruction* theirs =
        m.theirs >= 0 ? &c.theirs[static_cast<size_t>(m.theirs)] : nullptr;
    const TableInstruction& any = ours != nullptr ? *ours : *theirs;
    absl::StrAppend(&csv, any.core, ",", any.engine, ",", any.opcode);
    for (const TableInstruction* side : {ours, theirs}) {
      absl::StrAppend(&csv, ",", side ? NumberText(side->start) : "", ",",
                      side ? NumberText(side->duration) : "");
    }
    const bool both = ours && theirs && theirs->duration > 0;
    absl::StrAppend(
        &csv, ",",
        both ? NumberText(ours->duration / theirs->duration - 1) : "", "\n");
  }
  return csv;
}

}  // namespace trnemu
