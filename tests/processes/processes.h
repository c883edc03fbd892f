// The processes that run these tests together.
#ifndef TRNEMU_TESTS_PROCESSES_PROCESSES_H_
#define TRNEMU_TESTS_PROCESSES_PROCESSES_H_

#include "collectives/exchange.h"

namespace trnemu {

MpiExchange& Together();

}  // namespace trnemu

#endif  // TRNEMU_TESTS_PROCESSES_PROCESSES_H_
