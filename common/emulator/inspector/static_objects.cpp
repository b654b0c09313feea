#include "static_objects.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace emu::inspector {
namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Segment = ElfW(Phdr);
using Symbol = ElfW(Sym);

/// The program as it was loaded.
struct Image {
    std::uint64_t load_offset = 0;  ///< from addresses in the file to addresses in memory
    std::vector<Object> constants;  ///< the segments that nobody writes
    std::vector<Object> variables;  ///< the others
};

Image read_image() {
    Image image;
    const auto visit = [](dl_phdr_info* info, std::size_t, void* data) -> int {
        Image& result = *static_cast<Image*>(data);
        result.load_offset = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const Segment& segment = info->dlpi_phdr[i];
            const bool loaded = segment.p_type == PT_LOAD || segment.p_type == PT_GNU_RELRO;
            if (!loaded) continue;
            const bool writable = segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0;
            (writable ? result.variables : result.constants)
                .push_back({ObjectKind::image, info->dlpi_addr + segment.p_vaddr, segment.p_memsz,
                            "static memory of the program"});
        }
        return 1;  // the program comes first; its libraries hold nothing of device code
    };
    dl_iterate_phdr(visit, &image);
    return image;
}

std::string read_program() {
    std::ifstream in("/proc/self/exe", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// `count` structures that begin at an offset of the file. Empty: it does not hold them.
template <class T>
std::vector<T> structures(const std::string& file, std::uint64_t offset, std::uint64_t count) {
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {};
    std::vector<T> result(count);
    std::memcpy(result.data(), file.data() + offset, count * sizeof(T));
    return result;
}

std::string readable(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
    return status == 0 ? name.get() : symbol;
}

/// The symbol table's variables.
std::vector<Object> variables_of(const std::string& file, std::uint64_t load_offset) {
    std::vector<Object> result;
    const std::vector<Header> header = structures<Header>(file, 0, 1);
    if (header.empty()) return result;
    const auto sections = structures<Section>(file, header[0].e_shoff, header[0].e_shnum);
    for (const Section& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const Section& names = sections[section.sh_link];
        const auto symbols =
            structures<Symbol>(file, section.sh_offset, section.sh_size / sizeof(Symbol));
        for (const Symbol& symbol : symbols) {
            const bool variable = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                                  symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
            if (!variable || symbol.st_name >= names.sh_size ||
                names.sh_offset + symbol.st_name >= file.size())
                continue;
            const std::string name = readable(file.c_str() + names.sh_offset + symbol.st_name);
            result.push_back({ObjectKind::symbol, load_offset + symbol.st_value, symbol.st_size,
                              "variable " + name + ", " + std::to_string(symbol.st_size) +
                                  (symbol.st_size == 1 ? " byte" : " bytes")});
        }
    }
    return result;
}

}  // namespace

std::vector<Object> static_objects() {
    Image image = read_image();
    std::vector<Object> result = variables_of(read_program(), image.load_offset);
    const bool all_named = !result.empty();
    std::move(image.constants.begin(), image.constants.end(), std::back_inserter(result));
    if (!all_named)
        std::move(image.variables.begin(), image.variables.end(), std::back_inserter(result));
    return result;
}

}  // namespace emu::inspector
