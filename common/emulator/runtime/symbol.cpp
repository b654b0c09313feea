#include <link.h>

#include <cstddef>
#include <cstdint>

#include "copy.hpp"
#include "error.hpp"
#include "memory.hpp"

namespace emu {
namespace {

/// Whether the range lies in the data of the program or of one of its libraries. What does not is
/// no variable of the device but, say, the temporary that `&variable` makes.
bool in_static_storage(const Symbol& symbol) {
    Symbol wanted = symbol;
    const auto holds = [](dl_phdr_info* image, std::size_t, void* data) -> int {
        const auto& range = *static_cast<const Symbol*>(data);
        const auto begin = reinterpret_cast<std::uintptr_t>(range.address);
        for (int i = 0; i < image->dlpi_phnum; ++i) {
            const auto& segment = image->dlpi_phdr[i];
            const std::uintptr_t first = image->dlpi_addr + segment.p_vaddr;
            const bool inside = begin >= first && begin - first < segment.p_memsz &&
                                range.size <= segment.p_memsz - (begin - first);
            if (segment.p_type == PT_LOAD && inside) return 1;
        }
        return 0;
    };
    return dl_iterate_phdr(holds, &wanted) != 0;
}

/// Enters the variable as memory of the device, so that copies by address find it.
cudaError_t enter_symbol(const Symbol& symbol) {
    Allocation found;
    if (find_allocation(symbol.address, found)) {
        return found.begin == symbol.address ? cudaSuccess : cudaErrorInvalidSymbol;
    }
    if (!in_static_storage(symbol)) return cudaErrorInvalidSymbol;
    // Another thread may have been faster: then it is there, which is what counts.
    enter("variable", MemoryKind::symbol, 0, symbol.address, symbol.size);
    return cudaSuccess;
}

/// Address of a part of a variable. Errors: cudaErrorInvalidSymbol, cudaErrorInvalidValue.
cudaError_t part_of(const Symbol& symbol, std::size_t offset, std::size_t count, char*& address) {
    if (const cudaError_t error = enter_symbol(symbol); error != cudaSuccess) return error;
    if (offset > symbol.size || count > symbol.size - offset) return cudaErrorInvalidValue;
    address = static_cast<char*>(symbol.address) + offset;
    return cudaSuccess;
}

cudaError_t copy_to(const Symbol& symbol, const void* src, std::size_t count, std::size_t offset,
                    cudaMemcpyKind kind, cudaStream_t stream, HostWaits waits) {
    return api_call([&] {
        char* to = nullptr;
        const cudaError_t error = part_of(symbol, offset, count, to);
        if (error != cudaSuccess) return error;
        const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
                               kind == cudaMemcpyDefault;
        if (!to_device) return cudaErrorInvalidMemcpyDirection;
        return copy({to, count, static_cast<const char*>(src), count, count, 1}, kind, stream,
                    waits);
    });
}

cudaError_t copy_from(void* dst, const Symbol& symbol, std::size_t count, std::size_t offset,
                      cudaMemcpyKind kind, cudaStream_t stream, HostWaits waits) {
    return api_call([&] {
        char* from = nullptr;
        const cudaError_t error = part_of(symbol, offset, count, from);
        if (error != cudaSuccess) return error;
        const bool from_device = kind == cudaMemcpyDeviceToHost ||
                                 kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
        if (!from_device) return cudaErrorInvalidMemcpyDirection;
        return copy({static_cast<char*>(dst), count, from, count, count, 1}, kind, stream, waits);
    });
}

}  // namespace

cudaError_t symbol_address(void** devPtr, Symbol symbol) {
    return api_call([&] {
        if (devPtr == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = enter_symbol(symbol);
        if (error == cudaSuccess) *devPtr = symbol.address;
        return error;
    });
}

cudaError_t symbol_size(std::size_t* size, Symbol symbol) {
    return api_call([&] {
        if (size == nullptr) return cudaErrorInvalidValue;
        const cudaError_t error = enter_symbol(symbol);
        if (error == cudaSuccess) *size = symbol.size;
        return error;
    });
}

cudaError_t copy_to_symbol(Symbol symbol, const void* src, std::size_t count, std::size_t offset,
                           cudaMemcpyKind kind) {
    return copy_to(symbol, src, count, offset, kind, nullptr, HostWaits::always);
}

cudaError_t copy_to_symbol_async(Symbol symbol, const void* src, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_to(symbol, src, count, offset, kind, stream, HostWaits::if_it_must);
}

cudaError_t copy_from_symbol(void* dst, Symbol symbol, std::size_t count, std::size_t offset,
                             cudaMemcpyKind kind) {
    return copy_from(dst, symbol, count, offset, kind, nullptr, HostWaits::always);
}

cudaError_t copy_from_symbol_async(void* dst, Symbol symbol, std::size_t count, std::size_t offset,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_from(dst, symbol, count, offset, kind, stream, HostWaits::if_it_must);
}

}  // namespace emu
