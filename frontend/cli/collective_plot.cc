#include "frontend/cli/collective_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "absl/strings/str_format.h"
#include "frontend/cli/common.h"
#include "frontend/cli/system_options.h"
#include "isa/svg.h"

namespace trnemu::cli {
namespace {

// Pixels.
constexpr double kWidth = 1100, kHeight = 560;
constexpr double kTop = 104, kPlot = 372, kPanel = 450, kLeft = 78;
constexpr double kBetween = 100;

// Apart for those who do not see red and green, too (Okabe and Ito).
constexpr std::array<std::string_view, 8> kColours = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7",
    "#e69f00", "#56b4e9", "#7a5195", "#222222"};

// Of positive values, from a power of ten to one.
struct Axis {
  double low = 0, high = 1;  // logarithms to base 10
  void Fit(double least, double most) {
    low = std::floor(std::log10(least));
    high = std::max(low + 1, std::ceil(std::log10(most)));
  }
  double At(double value) const {
    return (std::log10(value) - low) / (high - low);
  }
};

class Picture {
 public:
  explicit Picture(const CollectivePlot& plot) : plot_(plot) {
    double least = 0, most = 0;
    for (const PlotLine& line : plot.lines) {
      for (const PlotPoint& p : line.points) {
        least = least == 0 ? p.bytes : std::min(least, p.bytes);
        most = std::max(most, p.bytes);
      }
    }
    x_.low = std::log10(std::max(1.0, least));
    x_.high = std::log10(std::max(1.0, most));
    if (x_.high <= x_.low) x_.high = x_.low + 1;
  }

  std::string Draw() {
    Panel(kLeft, "time, us", &PlotPoint::time_us);
    Panel(kLeft + kPanel + kBetween, "bus bandwidth, GB/s", &PlotPoint::busbw);
    Legend();
    return std::move(svg_);
  }

 private:
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
  double X(double left, double bytes) const {
    return left + kPanel * x_.At(std::max(1.0, bytes));
  }
  double Y(double value) const { return kTop + kPlot * (1 - y_.At(value)); }

  void Frame(double left, std::string_view name) {
    absl::StrAppendFormat(&svg_,
                          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                          "height=\"%.1f\" class=\"plot\"/>\n",
                          left, kTop, kPanel, kPlot);
    Text(left, kTop - 10, "class=\"part\"", name);
    for (double e = y_.low; e <= y_.high; e += 1) {
      const double y = Y(std::pow(10, e));
      Line(left, y, left + kPanel, y, "class=\"grid\"");
      Text(left - 8, y + 4, "class=\"tick\" text-anchor=\"end\"",
           absl::StrFormat("%.10g", std::pow(10, e)));
    }
    // Powers of two, so many that their names do not touch.
    const double octaves = (x_.high - x_.low) / std::log10(2);
    const int step = std::max(1, static_cast<int>(std::ceil(octaves / 7)));
    const int first =
        static_cast<int>(std::ceil(x_.low / std::log10(2) - 1e-9));
    for (int bits = first; bits * std::log10(2) <= x_.high + 1e-9;
         bits += step) {
      const double x = X(left, std::ldexp(1, bits));
      Line(x, kTop, x, kTop + kPlot, "class=\"grid\"");
      Text(x, kTop + kPlot + 18, "class=\"tick\" text-anchor=\"middle\"",
           SizeText(int64_t{1} << bits));
    }
    Text(left + kPanel / 2, kTop + kPlot + 38,
         "class=\"tick\" text-anchor=\"middle\"", "size");
    double below = 12;
    for (const auto& [bytes, mark] : plot_.marks) {
      const double x = X(left, bytes);
      if (x <= left || x >= left + kPanel) continue;
      Line(x, kTop, x, kTop + kPlot, "class=\"mark\"");
      Text(x - 4, kTop + below, "class=\"markname\" text-anchor=\"end\"", mark);
      below += 12;
    }
  }

  void Panel(double left, std::string_view name, double PlotPoint::*value) {
    double least = 0, most = 0;
    for (const PlotLine& line : plot_.lines) {
      for (const PlotPoint& p : line.points) {
        if (p.*value <= 0) continue;
        least = least == 0 ? p.*value : std::min(least, p.*value);
        most = std::max(most, p.*value);
      }
    }
    y_.Fit(least > 0 ? least : 1, most > 0 ? most : 10);
    Frame(left, name);
    for (size_t i = 0; i < plot_.lines.size(); ++i) {
      const PlotLine& line = plot_.lines[i];
      std::string points;
      for (const PlotPoint& p : line.points) {
        if (p.*value <= 0) continue;
        absl::StrAppendFormat(&points, "%s%.1f,%.1f", points.empty() ? "" : " ",
                              X(left, p.bytes), Y(p.*value));
      }
      absl::StrAppendFormat(&svg_,
                            "<polyline points=\"%s\" class=\"%s\" "
                            "stroke=\"%s\"/>\n",
                            points, line.thin ? "chosen" : "line", Colour(i));
      for (const PlotPoint& p : line.points) {
        if (p.*value <= 0) continue;
        absl::StrAppendFormat(
            &svg_,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\">"
            "<title>%s</title></circle>\n",
            X(left, p.bytes), Y(p.*value), line.thin ? "1.8" : "3", Colour(i),
            EscapedForSvg(p.text));
      }
    }
  }

  std::string Colour(size_t line) const {
    if (plot_.lines[line].thin) return std::string(kColours.back());
    return std::string(kColours[line % (kColours.size() - 1)]);
  }

  void Legend() {
    double x = kLeft;
    const double y = kHeight - 22;
    for (size_t i = 0; i < plot_.lines.size(); ++i) {
      const PlotLine& line = plot_.lines[i];
      Line(x, y - 4, x + 24, y - 4,
           Cat("class=\"", line.thin ? "chosen" : "line", "\" stroke=\"",
               Colour(i), "\""));
      Text(x + 30, y, "class=\"tick\"", line.name);
      x += 50 + 7 * static_cast<double>(line.name.size());
    }
  }

  const CollectivePlot& plot_;
  Axis x_, y_;
  std::string svg_;
};

constexpr std::string_view kStyle = R"(<style>
text { font-family: Helvetica, Arial, sans-serif; fill: #222 }
.title { font-size: 18px; font-weight: bold }
.part { font-size: 13px; font-weight: bold }
.note { font-size: 11px; fill: #555 }
.tick { font-size: 11px; fill: #444 }
.markname { font-size: 10px; fill: #777 }
.plot { fill: #fafafa; stroke: #999 }
.grid { stroke: #e3e3e3 }
.mark { stroke: #777; stroke-dasharray: 2 3 }
.line { fill: none; stroke-width: 1.8 }
.chosen { fill: none; stroke-width: 1.2; stroke-dasharray: 5 3 }
</style>
)";

}  // namespace

std::string Draw(const CollectivePlot& plot) {
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
      kWidth, kHeight, kWidth, kHeight);
  svg += kStyle;
  absl::StrAppendFormat(
      &svg,
      "<rect width=\"%.0f\" height=\"%.0f\" fill=\"white\"/>\n"
      "<text x=\"%.0f\" y=\"32\" class=\"title\">%s</text>\n"
      "<text x=\"%.0f\" y=\"54\" class=\"note\">%s</text>\n",
      kWidth, kHeight, kLeft, EscapedForSvg(plot.title), kLeft,
      EscapedForSvg(plot.note));
  svg += Picture(plot).Draw();
  svg += "</svg>\n";
  return svg;
}

}  // namespace trnemu::cli
