#include "environment/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "environment/package_files_for_test.h"
#include "environment/temporary_folder_for_test.h"

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

/// However its headers lie, nothing outside the file is read. (The sanitizers tell.)
TEST(ReadElf, SurvivesDamage) {
  const std::string whole = ReadText(kSystemPython).substr(0, 1 << 16);
  for (std::size_t at = 0; at < 1024; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x7f);
    static_cast<void>(ReadElf(damaged));
    static_cast<void>(WithRunPath(damaged, "$ORIGIN/../lib"));
  }
}

TEST(WithRunPath, IsReadAgainAndOnlyTheLastCounts) {
  const std::string original = ReadText(kSystemPython);
  const auto once = WithRunPath(original, "/first");
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(ReadElf(*once)->run_path, "/first");
  EXPECT_EQ(ReadElf(*once)->needed, ReadElf(original)->needed);
  EXPECT_EQ(ReadElf(*once)->loader, ReadElf(original)->loader);
}

/// The loader itself: a program that is changed still runs, and finds its libraries beside itself first.
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
