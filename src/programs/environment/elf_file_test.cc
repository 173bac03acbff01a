#include "programs/environment/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;

TEST(ReadElf, SaysWhatALoaderReads) {
  const auto python = ReadElf(ReadText(kSystemPython));
  ASSERT_TRUE(python) << python.error().message;
  EXPECT_TRUE(python->loader.starts_with("/lib")) << python->loader;
  EXPECT_NE(std::ranges::find(python->needed, "libc.so.6"), python->needed.end());
  EXPECT_EQ(python->run_path, "");
}

TEST(ReadElf, RefusesWhatIsNone) {
  std::string cut = ReadText(kSystemPython).substr(0, 4096);
  std::string other = cut;
  other[EI_CLASS] = ELFCLASS32;
  for (const std::string& file :
       {std::string(), std::string("#!/bin/sh\n"), std::string("\177ELF"), cut, other}) {
    EXPECT_EQ(ReadElf(file).error().code, Code::kInvalidArgument);
    EXPECT_EQ(WithRunPath(file, "/x").error().code, Code::kInvalidArgument);
  }
}

template <class T>
void Append(std::string& file, const T& part) {
  file.append(reinterpret_cast<const char*>(&part), sizeof part);
}

/// A library with everything that a loader reads, and nothing else: each byte matters.
std::string SmallLibrary(std::string_view name = "libc.so.6") {
  const std::string loader("/lib64/ld.so\0", 13);
  std::string strings(1, '\0');
  strings.append(name).append("\0/opt/lib\0", 10);
  constexpr std::size_t kSegments = 4;
  const std::size_t interpreter = sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr);
  const std::size_t dynamic = interpreter + loader.size();
  const std::vector<Elf64_Dyn> entries = {
      {.d_tag = DT_NEEDED, .d_un = {.d_val = 1}},
      {.d_tag = DT_RUNPATH, .d_un = {.d_val = name.size() + 2}},
      {.d_tag = DT_STRTAB, .d_un = {.d_ptr = dynamic + 5 * sizeof(Elf64_Dyn)}},
      {.d_tag = DT_STRSZ, .d_un = {.d_val = strings.size()}},
      {.d_tag = DT_NULL, .d_un = {.d_val = 0}}};
  const std::size_t end = dynamic + entries.size() * sizeof(Elf64_Dyn) + strings.size();

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = kSegments;
  std::string file;
  Append(file, header);
  const auto segment = [&file](Elf64_Word type, std::size_t offset, std::size_t size) {
    Elf64_Phdr part{};
    part.p_type = type;
    part.p_offset = part.p_vaddr = offset;
    part.p_filesz = part.p_memsz = size;
    Append(file, part);
  };
  segment(PT_LOAD, 0, end);
  segment(PT_INTERP, interpreter, loader.size());
  segment(PT_DYNAMIC, dynamic, entries.size() * sizeof(Elf64_Dyn));
  segment(PT_NOTE, 0, 0);
  file += loader;
  for (const Elf64_Dyn& entry : entries) Append(file, entry);
  return file + strings;
}

/// Whatever the file claims, nothing outside of it is read (the sanitizers would notice), and a file that can
/// be changed still reads the same afterwards.
TEST(ReadElf, SurvivesDamage) {
  const std::string whole = SmallLibrary();
  EXPECT_EQ(ReadElf(whole),
            (ElfFile{.loader = "/lib64/ld.so", .needed = {"libc.so.6"}, .run_path = "/opt/lib"}));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bits : {0x01, 0x08, 0x7f, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      auto elf = ReadElf(damaged);
      const auto changed = WithRunPath(damaged, "$ORIGIN/../lib");
      if (!changed) ++refused;
      if (!elf || !changed) continue;
      elf->run_path = "$ORIGIN/../lib";
      EXPECT_EQ(ReadElf(*changed), elf) << at;
    }
  }
  EXPECT_GT(refused, 100U) << "much of it counts";
}

TEST(ReadElf, RefusesNamesWithoutEnd) {
  EXPECT_TRUE(ReadElf(SmallLibrary(std::string(4096, 'x'))));
  EXPECT_FALSE(ReadElf(SmallLibrary(std::string(4097, 'x'))));
}

/// The address of the new part leads to another one, which claims to be much longer than it is.
TEST(WithRunPath, RefusesPartsThatOverlap) {
  std::string file = SmallLibrary();
  file.resize(std::size_t{1} << 17);
  Elf64_Phdr load{};
  std::memcpy(&load, file.data() + sizeof(Elf64_Ehdr), sizeof load);
  load.p_filesz = ~std::uint64_t{0} / 2;
  std::memcpy(file.data() + sizeof(Elf64_Ehdr), &load, sizeof load);
  EXPECT_TRUE(ReadElf(file));
  EXPECT_EQ(WithRunPath(file, "/x").error().code, Code::kInvalidArgument);
}

TEST(WithRunPath, IsReadAgainAndOnlyTheLastCounts) {
  const std::string original = ReadText(kSystemPython);
  const auto once = WithRunPath(original, "/first");
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(ReadElf(*once)->run_path, "/first");
  EXPECT_EQ(ReadElf(*once)->needed, ReadElf(original)->needed);
  EXPECT_EQ(ReadElf(*once)->loader, ReadElf(original)->loader);
}

/// Uses the real loader: a changed program still runs, and finds the libraries next to it first.
TEST(WithRunPath, TheLoaderLooksThereFirst) {
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "bin/python3.11";
  const auto changed = WithRunPath(ReadText(kSystemPython), "$ORIGIN/../lib");
  ASSERT_TRUE(changed) << changed.error().message;
  WriteText(program, *changed);
  fs::permissions(program, fs::perms::owner_all);
  EXPECT_EQ(Output({program, "-S", "-c", "print('runs')"}), "runs");
  const std::string tried =
      Output({"/bin/sh", "-c", "LD_DEBUG=libs \"$0\" -S -c 1 2>&1 | grep -c 'RPATH from file'", program});
  EXPECT_NE(tried, "0");
}

}  // namespace
}  // namespace trainyard::environment
