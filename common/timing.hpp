/// \file
/// Everything that a program needs to measure and to report.
#pragma once

#include "ceilings.hpp"
#include "compare.hpp"
#include "event_timer.hpp"
#include "measure.hpp"
#include "rates.hpp"
#include "report.hpp"
