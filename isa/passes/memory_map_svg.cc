// The map of a program's memories as a picture.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "isa/passes/memory_map.h"
#include "isa/svg.h"

namespace trnemu {
namespace {

// Pixels.
constexpr double kWidth = 1100, kLeft = 92, kRight = 30;
constexpr double kTop = 96, kPlot = 400, kBottom = 56;
constexpr double kPart = kTop + kPlot + kBottom;
constexpr double kHeader = 40;
constexpr double kCharacter = 6.6;    // of 11 px text, about
constexpr size_t kMaxLabelled = 500;  // tiles; more are not labelled beside

// The step of about `count` round ticks from 0 to `end`: 1, 2 or 5 times a
// power of ten.
int64_t TickStep(int64_t end, int count) {
  int64_t step = 1;
  for (int i = 0; end / step > count; ++i)
    step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

// One part's picture. Bytes are drawn to scale up to `top`; the limit lies
// there, or further up, and is then said not to be to scale.
class Picture {
 public:
  Picture(const MemoryMapPart& part, const Program& program, double y)
      : part_(part), program_(program), y_(y) {
    const int64_t limit = std::max<int64_t>(1, part.limit.bytes);
    to_scale_ = part.end * 2 > limit;
    top_ = to_scale_ ? std::max(limit, part.end)
                     : std::max<int64_t>(64, part.end + part.end / 6);
    count_ = std::max<int64_t>(1, part.instructions);
  }

  std::string Draw() {
    Caption();
    Frame();
    for (size_t i = 0; i < part_.spans.size(); ++i) Tile(i);
    LimitLine();
    Peak();
    return std::move(svg_);
  }

 private:
  double X(double instruction) const {
    return kLeft + (kWidth - kLeft - kRight) * instruction /
                       static_cast<double>(count_);
  }
  double Y(double byte) const {
    return y_ + kTop + kPlot * (1 - byte / static_cast<double>(top_));
  }
  void Text(double x, double y, std::string_view style, std::string_view text) {
    absl::StrAppendFormat(&svg_, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n",
                          x, y, style, EscapedForSvg(text));
  }
  void Line(double x1, double y1, double x2, double y2,
            std::string_view style) {
    absl::StrAppendFormat(
        &svg_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n",
        x1, y1, x2, y2, style);
  }

  void Caption() {
    const std::string space(Name(part_.limit.space));
    Text(kLeft, y_ + 28, "class=\"part\"",
         absl::StrCat(space == "sbuf" ? "SBUF" : "PSUM", " of core ",
                      part_.core));
    Text(kLeft, y_ + 48, "class=\"note\"",
         absl::StrCat("at most ", part_.peak,
                      " bytes per partition live at once (instruction ",
                      part_.peak_at, "); the highest tile ends at byte ",
                      part_.end));
    Text(kLeft, y_ + 64, "class=\"note\"",
         absl::StrCat("limit ", part_.limit.bytes, " bytes per partition: ",
                      part_.limit.constant, ", ", part_.limit_source));
  }

  void Frame() {
    absl::StrAppendFormat(
        &svg_,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
        "class=\"plot\"/>\n",
        kLeft, y_ + kTop, kWidth - kLeft - kRight, kPlot);
    const int64_t bytes = TickStep(top_, 8);
    for (int64_t b = 0; b <= top_; b += bytes) {
      const double y = Y(static_cast<double>(b));
      Line(kLeft, y, kWidth - kRight, y, "class=\"grid\"");
      Text(kLeft - 8, y + 4, "class=\"tick\" text-anchor=\"end\"",
           absl::StrCat(b));
    }
    const int64_t step = TickStep(count_, 12);
    for (int64_t i = 0; i < count_; i += step) {
      const double x = X(static_cast<double>(i) + 0.5);
      Line(x, y_ + kTop + kPlot, x, y_ + kTop + kPlot + 5, "class=\"axis\"");
      Text(x, y_ + kTop + kPlot + 18, "class=\"tick\" text-anchor=\"middle\"",
           absl::StrCat(i));
    }
    Text((kLeft + kWidth - kRight) / 2, y_ + kTop + kPlot + 36,
         "class=\"tick\" text-anchor=\"middle\"",
         "instruction, in program order");
    const double middle = y_ + kTop + kPlot / 2;
    Text(22, middle,
         absl::StrFormat("class=\"tick\" text-anchor=\"middle\" "
                         "transform=\"rotate(-90 22 %.1f)\"",
                         middle),
         "byte of the partition");
  }

  void Tile(size_t i) {
    const MemorySpan& s = part_.spans[i];
    const Tensor& t = program_.tensors[s.tensor];
    const double x = X(s.first),
                 y = Y(static_cast<double>(s.address + s.bytes));
    const double width = std::max(1.0, X(s.last + 1.0) - x);
    const double height = std::max(1.5, Y(static_cast<double>(s.address)) - y);
    // Hues a golden angle apart differ, however many there are.
    const double hue = std::fmod(static_cast<double>(s.tensor) * 137.508, 360);
    absl::StrAppendFormat(
        &svg_,
        "<g><title>%s</title><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
        "height=\"%.2f\" class=\"tile\" fill=\"hsl(%.0f, 62%%, 78%%)\"/>",
        EscapedForSvg(Tooltip(s, t)), x, y, width, height, hue);
    const auto fits = [&](const std::string& text) {
      return static_cast<double>(text.size()) * kCharacter + 8 < width;
    };
    const std::string size = absl::StrCat(s.bytes, " B");
    if (height >= 13 && fits(t.name)) {
      const std::string both = absl::StrCat(t.name, "  ", size);
      const bool two = height >= 28 && !fits(both) && fits(size);
      const double at = y + height / 2 + (two ? -2.5 : 4);
      Label(x + width / 2, at, fits(both) ? both : t.name);
      if (two) Label(x + width / 2, at + 14, size);
    } else {
      LabelBeside(t.name, x, x + width, y + height / 2);
    }
    svg_ += "</g>\n";
  }

  // The name of a tile too thin for it, behind or before it, where nothing else
  // is.
  void LabelBeside(const std::string& name, double left, double right,
                   double y) {
    if (part_.spans.size() > kMaxLabelled) return;
    const double length = static_cast<double>(name.size()) * kCharacter + 4;
    if (right + length < kWidth - kRight && IsFree(right, right + length, y)) {
      Text(right + 3, y + 4, "class=\"beside\"", name);
    } else if (left - length > kLeft && IsFree(left - length, left, y)) {
      Text(left - 3, y + 4, "class=\"beside\" text-anchor=\"end\"", name);
    }
  }
  bool IsFree(double left, double right, double y) const {
    return std::none_of(
        part_.spans.begin(), part_.spans.end(), [&](const MemorySpan& s) {
          return X(s.first) < right - 0.01 && X(s.last + 1.0) > left + 0.01 &&
                 Y(static_cast<double>(s.address)) > y - 6 &&
                 Y(static_cast<double>(s.address + s.bytes)) < y + 6;
        });
  }
  bool PeakIsRight() const { return X(part_.peak_at) > kWidth * 0.6; }

  void Label(double x, double y, std::string_view text) {
    Text(x, y, "class=\"name\" text-anchor=\"middle\"", text);
  }

  std::string Tooltip(const MemorySpan& s, const Tensor& t) const {
    std::string text = absl::StrCat(
        t.name, " ", DescribeShape(t.shape), " ", std::string(Name(t.dtype)),
        t.pinned ? ", pinned" : "", "\nbytes ", s.address, " to ",
        s.address + s.bytes - 1, " of each partition\ninstructions ", s.first,
        " to ", s.last);
    const std::string source = program_.DescribeSource(t.source);
    if (!source.empty()) absl::StrAppend(&text, "\n", source);
    return text;
  }

  void LimitLine() {
    const double y =
        to_scale_ ? Y(static_cast<double>(part_.limit.bytes)) : y_ + kTop;
    Line(kLeft, y, kWidth - kRight, y, "class=\"limit\"");
    const bool left = PeakIsRight();
    Text(left ? kLeft : kWidth - kRight, y - 5,
         left ? "class=\"limitname\""
              : "class=\"limitname\" text-anchor=\"end\"",
         absl::StrCat("limit ", part_.limit.bytes,
                      to_scale_ ? "" : ", further up: not to scale"));
  }

  void Peak() {
    const double x = X(part_.peak_at + 0.5);
    Line(x, y_ + kTop, x, y_ + kTop + kPlot, "class=\"peak\"");
    const bool right = PeakIsRight();
    Text(
        x + (right ? -6 : 6), y_ + kTop - 5,
        right ? "class=\"peakname\" text-anchor=\"end\"" : "class=\"peakname\"",
        absl::StrCat("peak ", part_.peak, " bytes"));
  }

  const MemoryMapPart& part_;
  const Program& program_;
  const double y_;
  bool to_scale_ = true;
  int64_t top_ = 1;
  int64_t count_ = 1;
  std::string svg_;
};

constexpr std::string_view kStyle = R"(<style>
text { font-family: Helvetica, Arial, sans-serif; fill: #222 }
.title { font-size: 18px; font-weight: bold }
.part { font-size: 15px; font-weight: bold }
.note { font-size: 11px; fill: #555 }
.tick { font-size: 11px; fill: #444 }
.name { font-size: 11px }
.beside { font-size: 10px; fill: #555 }
.limitname { font-size: 11px; fill: #b3261e }
.peakname { font-size: 11px; fill: #1a56a8 }
.plot { fill: #fafafa; stroke: #999 }
.grid { stroke: #e3e3e3 }
.axis { stroke: #999 }
.tile { stroke: #333; stroke-width: 0.7; fill-opacity: 0.85 }
.limit { stroke: #b3261e; stroke-width: 1.5; stroke-dasharray: 7 4 }
.peak { stroke: #1a56a8; stroke-width: 1.2; stroke-dasharray: 2 3 }
</style>
)";

}  // namespace

std::string MemoryMapSvg(const MemoryMap& map, const Program& program) {
  const double height = kHeader + kPart * static_cast<double>(std::max<size_t>(
                                              1, map.parts.size()));
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
      kWidth, height, kWidth, height);
  svg += kStyle;
  absl::StrAppendFormat(&svg,
                        "<rect width=\"%.0f\" height=\"%.0f\" "
                        "fill=\"white\"/>\n",
                        kWidth, height);
  absl::StrAppendFormat(
      &svg, "<text x=\"%.0f\" y=\"32\" class=\"title\">%s</text>\n", kLeft,
      EscapedForSvg(
          absl::StrCat("Memory of ", map.program, " on ", map.target)));
  double y = kHeader;
  for (const MemoryMapPart& part : map.parts) {
    svg += Picture(part, program, y).Draw();
    y += kPart;
  }
  if (map.parts.empty()) {
    absl::StrAppendFormat(&svg,
                          "<text x=\"%.0f\" y=\"70\" class=\"note\">It has no "
                          "tiles.</text>\n",
                          kLeft);
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace trnemu
