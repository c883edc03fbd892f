// Time and bus bandwidth of a collective over size, as a picture.
#ifndef TRNEMU_FRONTEND_CLI_COLLECTIVE_PLOT_H_
#define TRNEMU_FRONTEND_CLI_COLLECTIVE_PLOT_H_

#include <string>
#include <utility>
#include <vector>

namespace trnemu::cli {

struct PlotPoint {
  double bytes = 0, time_us = 0, busbw = 0;
  std::string text;  // a tooltip
};
struct PlotLine {
  std::string name;
  bool thin = false;  // dashed, over the others: the automatic choice
  std::vector<PlotPoint> points;
};
struct CollectivePlot {
  std::string title, note;
  std::vector<PlotLine> lines;
  std::vector<std::pair<double, std::string>> marks;  // sizes, and their names
};

// One SVG document that needs nothing else; both axes logarithmic.
std::string Draw(const CollectivePlot& plot);

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_COLLECTIVE_PLOT_H_
