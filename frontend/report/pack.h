// Makes the profile smaller before it goes into the report; data.js undoes it.
#ifndef TRNEMU_FRONTEND_REPORT_PACK_H_
#define TRNEMU_FRONTEND_REPORT_PACK_H_

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace trnemu {

// Replaces columns, lists of objects and texts in place, where that pays:
//   numbers   {"delta": LIST, "unit": u}: value[i] = u * sum of LIST[0..i],
//             or {"after": NAME, "by": LIST, "unit": u}: value[i] = that
//             column's value + u * LIST[i], or -1 where LIST has null.
//             Times are kept to the picosecond.
//   repeats   {"runs": [value, count, ...]}, of a column or of such a LIST
//   names     {"names": [...], "at": COLUMN}: value[i] = names[at[i]]
//   objects   {"columns": {KEY: COLUMN, ...}}, all with the same keys
//   texts     {"templates": [...], "use": COLUMN, "numbers": [...]}: text i is
//             templates[use[i]] with its marks (U+0001) replaced by numbers,
//             each added to what that mark held when the template was last used
// What it does not recognise stays as it is.
void PackProfile(nlohmann::ordered_json& profile);

// PackProfile's parts: columns of numbers and names (pack_columns.cc).

// The times of a table: `base` by what it adds to the row before, the others
// by that or by their distance from a column that comes before them.
using TimeColumns = std::vector<std::pair<const char*, const char*>>;
void PackTimes(nlohmann::ordered_json& table, const char* base,
               const TimeColumns& others);
// Whole numbers, repeats and names.
void PackColumn(nlohmann::ordered_json& column);

// The member, or null if `object` has none or is no object.
nlohmann::ordered_json* FindMember(nlohmann::ordered_json* object,
                                   const char* key);

}  // namespace trnemu

#endif  // TRNEMU_FRONTEND_REPORT_PACK_H_
