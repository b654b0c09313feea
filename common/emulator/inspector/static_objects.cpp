#include "static_objects.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
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

/// Calls `visit(symbol, name)` for each symbol of the type that the program defines.
template <class Visit>
void for_each_symbol(const std::string& file, unsigned type, Visit visit) {
    const std::vector<Header> header = structures<Header>(file, 0, 1);
    if (header.empty()) return;
    const auto sections = structures<Section>(file, header[0].e_shoff, header[0].e_shnum);
    for (const Section& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const Section& names = sections[section.sh_link];
        const auto symbols =
            structures<Symbol>(file, section.sh_offset, section.sh_size / sizeof(Symbol));
        for (const Symbol& symbol : symbols) {
            const bool wanted = ELF64_ST_TYPE(symbol.st_info) == type &&
                                symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0;
            if (!wanted || symbol.st_name >= names.sh_size ||
                names.sh_offset + symbol.st_name >= file.size())
                continue;
            visit(symbol, readable(file.c_str() + names.sh_offset + symbol.st_name));
        }
    }
}

/// The symbol table's variables.
std::vector<Object> variables_of(const std::string& file, std::uint64_t load_offset) {
    std::vector<Object> result;
    for_each_symbol(file, STT_OBJECT, [&](const Symbol& symbol, const std::string& name) {
        result.push_back({ObjectKind::symbol, load_offset + symbol.st_value, symbol.st_size,
                          "variable " + name + ", " + std::to_string(symbol.st_size) +
                              (symbol.st_size == 1 ? " byte" : " bytes")});
    });
    return result;
}

/// "void (anonymous namespace)::blur<3>(unsigned char const*)" becomes "blur<3>".
std::string without_signature(std::string name) {
    const std::string unnamed = "(anonymous namespace)::";
    for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
        name.erase(at, unnamed.size());
    int angles = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++angles;
        if (name[i] == '>') --angles;
        if (angles == 0 && name[i] == ' ') begin = i + 1;  // behind the result's type
        if (angles == 0 && name[i] == '(') return name.substr(begin, i - begin);
    }
    return name;
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

std::string function_name(std::uint64_t address) {
    static const std::map<std::uint64_t, std::string> names = [] {
        std::map<std::uint64_t, std::string> result;
        const std::uint64_t load_offset = read_image().load_offset;
        for_each_symbol(read_program(), STT_FUNC,
                        [&](const Symbol& symbol, const std::string& name) {
                            result.emplace(load_offset + symbol.st_value, without_signature(name));
                        });
        return result;
    }();
    const auto found = names.find(address);
    return found == names.end() ? "" : found->second;
}

}  // namespace emu::inspector
