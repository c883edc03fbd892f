// What `collective` says: a table, JSON, a picture.
#ifndef TRNEMU_FRONTEND_CLI_COLLECTIVE_REPORT_H_
#define TRNEMU_FRONTEND_CLI_COLLECTIVE_REPORT_H_

#include <span>
#include <string>
#include <vector>

#include "collectives/bench.h"
#include "frontend/cli/common.h"

namespace trnemu::cli {

class CollectiveReport {
 public:
  // Keeps references. `all`: the algorithms are shown side by side.
  CollectiveReport(const CollectiveQuery& query,
                   const std::vector<CollectiveRow>& rows, bool all);

  std::string Text() const;
  Json ToJson() const;
  std::string Svg() const;  // frontend/cli/collective_plot.h

 private:
  std::string Title() const;   // what is measured
  std::string Header() const;  // and where, in which units
  std::string Rows() const;
  std::string SideBySide() const;
  std::string Ranges() const;
  bool has_documented_ranges() const;
  Json RowJson(const CollectiveRow& row) const;

  const CollectiveQuery& query_;
  const std::vector<CollectiveRow>& rows_;
  const bool all_;
  const CollectiveSubject& subject_;
  // Groups and ranks of each.
  int64_t groups_ = 1, group_size_ = 1;
};

}  // namespace trnemu::cli

#endif  // TRNEMU_FRONTEND_CLI_COLLECTIVE_REPORT_H_
