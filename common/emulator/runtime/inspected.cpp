// What inspected programs call where others do the same inline: see block_state.hpp.

#include "emulator/block_state.hpp"
#include "emulator/shared_memory.hpp"

namespace emu {

bool begin_thread() {
    BlockState& b = block;
    if (b.unbegun == b.end) return false;
    b.current = b.unbegun++;
    threadIdx = b.current->index;
    b.current->wait = 0;  // neither unbegun nor returned: what is reported now is a kernel's
    return true;
}

void end_thread() {
    block.current->wait = wait_for_ever;
}

void wait_at_barrier(Site site) {
    __syncthreads(site.line, site.file);
}

void rest_here() {
    rest();
}

void* shared_address(const SharedSite& site) {
    if (block.touched[site.index] == 0) touch_shared(site);
    return block.shared + site.offset;
}

void* dynamic_shared_address() {
    return block.dynamic_shared;
}

}  // namespace emu
