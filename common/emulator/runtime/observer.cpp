#include "observer.hpp"

namespace emu {

Observer* observer = nullptr;

}  // namespace emu
