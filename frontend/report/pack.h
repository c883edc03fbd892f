// Makes the profile smaller before it goes into the report; data.js undoes it.
#ifndef TRNEMU_FRONTEND_REPORT_PACK_H_
#define TRNEMU_FRONTEND_REPORT_PACK_H_

#include <nlohmann/json.hpp>

namespace trnemu {

// Replaces columns and texts in place, where that pays:
//   times     {"delta": [...], "unit": u}, value[i] = u * sum of delta[0..i],
//             or {"after": NAME, "by": [...], "unit": u}, value[i] = that
//             column's value + u * by[i]; to the picosecond
//   repeats   {"runs": [value, count, ...]}
//   texts     {"templates": [...], "use": [...], "numbers": [...]}: text i is
//             templates[use[i]] with its marks (U+0001) replaced by numbers,
//             each added to what that mark held when the template was last used
// What it does not recognise stays as it is.
void PackProfile(nlohmann::ordered_json& profile);

}  // namespace trnemu

#endif  // TRNEMU_FRONTEND_REPORT_PACK_H_
