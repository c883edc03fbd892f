#ifndef TMP_BOTH_H_
#define TMP_BOTH_H_
namespace trnemu::slot { inline constexpr int kTmpC = 11, kTmpV = 7; }
#endif
