/// \file
/// Events: places in a stream that a host thread or another stream can wait for.
#pragma once

#include "operation.hpp"

namespace emu {

/// The operation of the event's latest record, null if there was none. False: no such event.
bool find_record(cudaEvent_t event, OperationPtr& recorded);

/// Makes every event handle invalid.
void destroy_all_events();

}  // namespace emu
