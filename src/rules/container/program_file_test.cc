#include "rules/container/program.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace trainyard::container {
namespace {

std::string Elf(Elf64_Half machine, const std::string& loader = "") {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_phoff = sizeof(header);
  header.e_phnum = loader.empty() ? 0 : 1;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  if (loader.empty()) return bytes;
  Elf64_Phdr part{};
  part.p_type = PT_INTERP;
  part.p_offset = sizeof(header) + sizeof(part);
  part.p_filesz = loader.size() + 1;
  bytes.append(reinterpret_cast<const char*>(&part), sizeof(part));
  return bytes + loader + '\0';
}

constexpr Elf64_Half kHere =
#if defined(__x86_64__)
    EM_X86_64;
#else
    EM_AARCH64;
#endif

struct Row {
  const char* name;
  std::string beginning;
  const char* expected;
};

class WhyNotRunnableTest : public testing::TestWithParam<Row> {};

TEST_P(WhyNotRunnableTest, Says) {
  const auto has_file = [](const std::string& path) { return path == "/bin/sh" || path == "/lib/ld.so"; };
  EXPECT_EQ(WhyNotRunnable(GetParam().beginning, has_file), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, WhyNotRunnableTest,
    testing::Values(Row{"static_program", Elf(kHere), ""}, Row{"program", Elf(kHere, "/lib/ld.so"), ""},
                    Row{"no_loader", Elf(kHere, "/lib/ld-musl.so"),
                        "it needs the loader /lib/ld-musl.so, which the image does not have"},
                    Row{"other_machine", Elf(EM_S390), "it is built for another kind of machine (s390x)"},
                    Row{"unknown_machine", Elf(4711), "it is built for another kind of machine"},
                    Row{"cut",
                        "\x7f"
                        "ELF\x02",
                        "it is cut short"},
                    Row{"cut_later", Elf(kHere, "/lib/ld.so").substr(0, 80), ""},
                    Row{"script", "#!/bin/sh\necho", ""}, Row{"script_with_flag", "#! /bin/sh -e\n", ""},
                    Row{"no_interpreter", "#!/usr/bin/python9\n",
                        "it needs /usr/bin/python9, which the image does not have"},
                    Row{"nothing_named", "#!\n", "its #! line names no interpreter"},
                    Row{"windows", "#!/bin/sh\r\n",
                        "its #! line ends in a carriage return: the script was written on Windows"},
                    Row{"text", "echo", "it is neither a program nor a script with a #! line"},
                    Row{"empty", "", "it is neither a program nor a script with a #! line"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace trainyard::container
