#include "frontend/cli/bench_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"
#include "frontend/cli/table.h"

namespace trnemu::cli {
namespace {

std::string Ns(double ns) { return absl::StrFormat("%.1f", ns); }

// "158.7 + 1.0417 N"; with several instructions each with its name.
std::string LawOf(const CostRow& row, std::string CostFormula::*which) {
  std::string text;
  for (const CostFormula& f : row.formulas) {
    const std::string name =
        row.formulas.size() > 1 ? Cat(f.instruction, " ") : "";
    text += Cat(text.empty() ? "" : "; ", name, f.*which);
  }
  return text;
}

std::string StatusOf(const CostRow& row) {
  std::set<std::string> seen;
  std::string text;
  for (const CostFormula& f : row.formulas) {
    if (!seen.insert(f.status).second) continue;
    text += Cat(text.empty() ? "" : ", ", f.status);
  }
  return text;
}

void PadLeft(std::vector<std::vector<std::string>>& rows, size_t first,
             size_t last) {
  for (size_t column = first; column < last; ++column) {
    size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row[column].size());
    for (auto& row : rows) {
      row[column].insert(0, width - row[column].size(), ' ');
    }
  }
}

std::string TextOf(const CostTable& table) {
  const CostSubject& subject = *FindCostSubject(table.operation);
  const std::string op(table.op.empty() ? subject.op : table.op);
  std::string text = Cat(table.operation, op.empty() ? "" : Cat(" op=", op),
                         ": N ", subject.size, ", ", table.rows[0].partitions,
                         " partitions; ns, simulated\n");
  std::vector<std::vector<std::string>> cells = {
      {"target", "engine", "dtype", "placement", "N", "issue", "completion",
       "steady", "first", "rate", "completion by the law"}};
  std::vector<std::string> refused;
  std::set<std::string> sources;
  for (const CostRow& row : table.rows) {
    if (!row.refused.empty()) {
      refused.push_back(Cat("not there: ", row.target, " ", row.dtype, " ",
                            row.placement, " N ", row.size, ": ", row.refused));
      continue;
    }
    std::string rate = "-";
    if (row.bytes_per_ns > 0) rate = Ns(row.bytes_per_ns) + " B/ns";
    if (row.flops_per_ns > 0) {
      rate = absl::StrFormat("%.1f TF/s", row.flops_per_ns / 1e3);
    }
    cells.push_back(
        {row.target, row.engine, row.dtype, row.placement, Cat(row.size),
         Ns(row.issue_ns), Ns(row.completion_ns), Ns(row.interval_ns),
         Ns(row.first_ns), rate,
         Cat(LawOf(row, &CostFormula::completion), " (", StatusOf(row), ")")});
    for (const CostFormula& f : row.formulas) {
      if (f.source.empty()) continue;
      sources.insert(Cat(row.target, " ", f.instruction, " issue ", f.issue,
                         "; ", f.source));
    }
  }
  PadLeft(cells, 4, 10);
  Table aligned(cells[0]);
  for (size_t i = 1; i < cells.size(); ++i) aligned.Add(cells[i]);
  if (!aligned.empty()) text += aligned.Text();
  for (const std::string& line : refused) text += line + "\n";
  for (const std::string& source : sources) text += Cat("law: ", source, "\n");
  return text;
}

Json FormulaJson(const CostFormula& f) {
  return {{"instruction", f.instruction},
          {"issue", f.issue},
          {"completion", f.completion},
          {"issue_ns", f.issue_ns},
          {"completion_ns", f.completion_ns},
          {"status", f.status},
          {"source", f.source}};
}

Json RowJson(const CostRow& row) {
  Json json = {{"operation", row.operation}, {"target", row.target},
               {"dtype", row.dtype},         {"placement", row.placement},
               {"size", row.size},           {"partitions", row.partitions}};
  json["refused"] = nullptr;
  if (!row.refused.empty()) {
    json["refused"] = row.refused;
    return json;
  }
  json["engine"] = row.engine;
  json["issue_ns"] = row.issue_ns;
  json["completion_ns"] = row.completion_ns;
  json["interval_ns"] = row.interval_ns;
  json["first_ns"] = row.first_ns;
  json["bytes_per_ns"] = nullptr;
  json["flops_per_ns"] = nullptr;
  if (row.bytes_per_ns > 0) json["bytes_per_ns"] = row.bytes_per_ns;
  if (row.flops_per_ns > 0) json["flops_per_ns"] = row.flops_per_ns;
  json["laws"] = Json::array();
  for (const CostFormula& f : row.formulas) {
    json["laws"].push_back(FormulaJson(f));
  }
  return json;
}

std::string Quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == cell.npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string Exact(double value) { return absl::StrFormat("%.9g", value); }

// "64 to 4096".
std::string Range(const std::vector<int64_t>& sizes) {
  return Cat(sizes.front(), " to ", sizes.back());
}

std::string Placements(const CostSubject& subject) {
  std::string text;
  for (const CostPlacement& p : subject.placements) {
    text += Cat(text.empty() ? "" : " ", Name(p));
  }
  return text;
}

std::string Dtypes(const CostSubject& subject) {
  std::string text;
  for (const Dtype d : subject.dtypes) {
    text += Cat(text.empty() ? "" : " ", Name(d));
  }
  return text;
}

}  // namespace

std::string SubjectsText() {
  Table table({"operation", "op", "N", "sizes", "dtypes", "placements"});
  for (const CostSubject& s : CostSubjects()) {
    table.Add({std::string(s.name), std::string(s.op.empty() ? "-" : s.op),
               std::string(s.size), Range(s.sizes), Dtypes(s), Placements(s)});
  }
  return Cat(table.Text(),
             "\nWhat stands here is what is taken if nothing else is asked for "
             "(of the\nplacements the first); other sizes, dtypes, memories, "
             "ops and engines can be:\ntrnemu bench --help. trnemu bench "
             "OPERATION prints its table.\n");
}

Json SubjectsJson() {
  Json list = Json::array();
  for (const CostSubject& s : CostSubjects()) {
    Json dtypes = Json::array(), placements = Json::array();
    for (const Dtype d : s.dtypes) dtypes.push_back(std::string(Name(d)));
    for (const CostPlacement& p : s.placements) placements.push_back(Name(p));
    Json one = {{"operation", s.name}, {"op", nullptr}, {"size", s.size}};
    if (!s.op.empty()) one["op"] = s.op;
    one["sizes"] = s.sizes;
    one["dtypes"] = dtypes;
    one["placements"] = placements;
    list.push_back(one);
  }
  return list;
}

std::string RowsText(std::span<const CostTable> tables) {
  std::string text;
  for (const CostTable& table : tables) {
    text += Cat(text.empty() ? "" : "\n", TextOf(table));
  }
  return text;
}

Json RowsJson(std::span<const CostTable> tables) {
  Json rows = Json::array();
  for (const CostTable& table : tables) {
    for (const CostRow& row : table.rows) rows.push_back(RowJson(row));
  }
  return rows;
}

std::string RowsCsv(std::span<const CostTable> tables,
                    const std::vector<HardwareChange>& changes) {
  std::string changed;
  for (const HardwareChange& c : changes) {
    changed += Cat(changed.empty() ? "" : "; ", Text(c));
  }
  std::string text =
      "operation,target,engine,dtype,placement,partitions,size,issue_ns,"
      "completion_ns,interval_ns,first_ns,bytes_per_ns,flops_per_ns,issue_law,"
      "completion_law,status,refused,hardware_changes\n";
  for (const CostTable& table : tables) {
    for (const CostRow& row : table.rows) {
      const bool there = row.refused.empty();
      const auto number = [there](double value) {
        return there ? Exact(value) : std::string();
      };
      const std::string cells[] = {row.operation,
                                   row.target,
                                   row.engine,
                                   row.dtype,
                                   row.placement,
                                   Cat(row.partitions),
                                   Cat(row.size),
                                   number(row.issue_ns),
                                   number(row.completion_ns),
                                   number(row.interval_ns),
                                   number(row.first_ns),
                                   number(row.bytes_per_ns),
                                   number(row.flops_per_ns),
                                   LawOf(row, &CostFormula::issue),
                                   LawOf(row, &CostFormula::completion),
                                   StatusOf(row),
                                   row.refused,
                                   changed};
      std::string line;
      for (const std::string& cell : cells) {
        line += Cat(line.empty() ? "" : ",", Quoted(cell));
      }
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace trnemu::cli
