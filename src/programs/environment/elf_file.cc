#include "programs/environment/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

namespace trainyard::environment {

namespace {

/// The largest page size of any machine: a segment that is aligned to it works everywhere.
constexpr std::uint64_t kPageMax = 0x10000;
constexpr std::size_t kHeadersMax = 256;
constexpr std::size_t kEntriesMax = 4096;
/// The limit of a path on Linux. Without a limit, long names would be copied once for each entry that refers
/// to them.
constexpr std::size_t kStringMax = 4096;

std::unexpected<Error> Bad(std::string_view what) {
  return std::unexpected(
      InvalidArgument({}, "the program cannot be copied from the image: " + std::string(what)));
}

bool Has(std::string_view file, std::uint64_t offset, std::uint64_t size) {
  return offset <= file.size() && size <= file.size() - offset;
}

template <class T>
T At(std::string_view file, std::uint64_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

template <class T>
void Put(std::string& file, std::uint64_t offset, const T& value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
}

std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// The parts of a file that are read here.
struct ElfTables {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Dyn> entries;  ///< of the dynamic section, without its end
  std::string_view strings;

  /// The file offset of the byte that is loaded at that address.
  [[nodiscard]] std::optional<std::uint64_t> OffsetOf(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return std::nullopt;
  }
  [[nodiscard]] const Elf64_Dyn* Find(Elf64_Sxword tag) const {
    const auto found = std::ranges::find(entries, tag, &Elf64_Dyn::d_tag);
    return found == entries.end() ? nullptr : &*found;
  }
  [[nodiscard]] Result<std::string> StringAt(std::uint64_t offset) const {
    if (offset >= strings.size()) return {};
    const std::string_view text = strings.substr(offset, strings.find('\0', offset) - offset);
    if (text.size() > kStringMax) return Bad("its strings are damaged");
    return std::string(text);
  }
};

Status ReadSegments(std::string_view file, ElfTables& parts) {
  if (!Has(file, 0, sizeof(Elf64_Ehdr)) || !file.starts_with(ELFMAG)) return Bad("it is not ELF");
  parts.header = At<Elf64_Ehdr>(file, 0);
  if (parts.header.e_ident[EI_CLASS] != ELFCLASS64 || parts.header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Bad("it is for another kind of machine");
  const std::size_t count = parts.header.e_phnum;
  if (parts.header.e_phentsize != sizeof(Elf64_Phdr) || count > kHeadersMax ||
      !Has(file, parts.header.e_phoff, count * sizeof(Elf64_Phdr)))
    return Bad("its program headers are damaged");
  for (std::size_t i = 0; i < count; ++i)
    parts.segments.push_back(At<Elf64_Phdr>(file, parts.header.e_phoff + i * sizeof(Elf64_Phdr)));
  return {};
}

Result<ElfTables> Read(std::string_view file) {
  ElfTables parts;
  TY_RETURN_IF_ERROR(ReadSegments(file, parts));
  const auto dynamic =
      std::ranges::find(parts.segments, static_cast<Elf64_Word>(PT_DYNAMIC), &Elf64_Phdr::p_type);
  if (dynamic == parts.segments.end()) return Bad("it is linked statically");
  const std::size_t count = dynamic->p_filesz / sizeof(Elf64_Dyn);
  if (count > kEntriesMax || !Has(file, dynamic->p_offset, dynamic->p_filesz))
    return Bad("its dynamic section is damaged");
  for (std::size_t i = 0; i < count; ++i) {
    parts.entries.push_back(At<Elf64_Dyn>(file, dynamic->p_offset + i * sizeof(Elf64_Dyn)));
    if (parts.entries.back().d_tag != DT_NULL) continue;
    parts.entries.pop_back();
    break;
  }
  const Elf64_Dyn* table = parts.Find(DT_STRTAB);
  const Elf64_Dyn* size = parts.Find(DT_STRSZ);
  const auto offset = table == nullptr ? std::nullopt : parts.OffsetOf(table->d_un.d_ptr);
  if (size == nullptr || !offset || !Has(file, *offset, size->d_un.d_val))
    return Bad("its strings are damaged");
  parts.strings = file.substr(*offset, size->d_un.d_val);
  return parts;
}

/// The entries with the new path, then the end of the section.
std::vector<Elf64_Dyn> NewEntries(const ElfTables& parts, std::uint64_t strings_address,
                                  std::uint64_t strings_size) {
  std::vector<Elf64_Dyn> entries;
  for (Elf64_Dyn entry : parts.entries) {
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) continue;
    if (entry.d_tag == DT_STRTAB) entry.d_un.d_ptr = strings_address;
    if (entry.d_tag == DT_STRSZ) entry.d_un.d_val = strings_size;
    entries.push_back(entry);
  }
  Elf64_Dyn path{};
  path.d_tag = DT_RPATH;
  path.d_un.d_val = parts.strings.size();
  entries.push_back(path);
  entries.push_back(Elf64_Dyn{});
  return entries;
}

}  // namespace

Result<ElfFile> ReadElf(std::string_view file) {
  TY_TRY(const ElfTables parts, Read(file));
  ElfFile elf;
  for (const Elf64_Phdr& segment : parts.segments) {
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz > kStringMax || !Has(file, segment.p_offset, segment.p_filesz))
      return Bad("its loader's name is damaged");
    elf.loader = file.substr(segment.p_offset, segment.p_filesz);
    elf.loader.resize(std::min(elf.loader.size(), elf.loader.find('\0')));
  }
  for (const Elf64_Dyn& entry : parts.entries) {
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    TY_TRY(std::string text, parts.StringAt(entry.d_un.d_val));
    if (entry.d_tag == DT_NEEDED)
      elf.needed.push_back(std::move(text));
    else if (entry.d_tag == DT_RUNPATH || elf.run_path.empty())
      elf.run_path = std::move(text);
  }
  return elf;
}

Result<std::string> WithRunPath(std::string file, std::string_view run_path) {
  TY_TRY(const ElfTables parts, Read(file));
  TY_TRY(ElfFile wanted, ReadElf(file));
  wanted.run_path = run_path;
  std::vector<Elf64_Phdr> segments = parts.segments;
  const auto note = std::ranges::find(segments, static_cast<Elf64_Word>(PT_NOTE), &Elf64_Phdr::p_type);
  if (note == segments.end()) return Bad("it has no note");
  segments.erase(note);
  std::uint64_t end = 0;
  auto behind_last = segments.begin();
  for (auto segment = segments.begin(); segment != segments.end(); ++segment) {
    if (segment->p_type != PT_LOAD) continue;
    end = std::max(end, segment->p_vaddr + segment->p_memsz);
    behind_last = std::next(segment);
  }

  std::string strings(parts.strings);
  strings.append(run_path).push_back('\0');
  const std::uint64_t address = RoundUp(end, kPageMax);
  const std::size_t entries_size = NewEntries(parts, 0, 0).size() * sizeof(Elf64_Dyn);
  const std::vector<Elf64_Dyn> entries = NewEntries(parts, address + entries_size, strings.size());

  Elf64_Phdr added{};
  added.p_type = PT_LOAD;
  added.p_flags = PF_R | PF_W;  // the loader writes to the dynamic section
  added.p_offset = RoundUp(file.size(), kPageMax);
  added.p_vaddr = added.p_paddr = address;
  added.p_filesz = added.p_memsz = entries_size + strings.size();
  added.p_align = kPageMax;
  segments.insert(behind_last, added);  // the loader requires them sorted by address
  for (Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    segment.p_offset = added.p_offset;
    segment.p_vaddr = segment.p_paddr = address;
    segment.p_filesz = segment.p_memsz = entries_size;
  }

  file.resize(added.p_offset + added.p_filesz);  // `parts.strings` is not used from here on
  for (std::size_t i = 0; i < entries.size(); ++i)
    Put(file, added.p_offset + i * sizeof(Elf64_Dyn), entries[i]);
  std::ranges::copy(strings, file.begin() + static_cast<std::ptrdiff_t>(added.p_offset + entries_size));
  for (std::size_t i = 0; i < segments.size(); ++i)
    Put(file, parts.header.e_phoff + i * sizeof(Elf64_Phdr), segments[i]);
  // In a file whose parts overlap, or whose addresses wrap around, more than the path has changed.
  if (ReadElf(file) != wanted) return Bad("its parts overlap");
  return file;
}

}  // namespace trainyard::environment
