#include "rules/container/program.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace trainyard::container {

namespace {

struct Machine {
  unsigned number;
  std::string_view name;
};
constexpr std::array kMachines = {Machine{EM_X86_64, "x86-64"}, Machine{EM_386, "i386"},
                                  Machine{EM_AARCH64, "arm64"}, Machine{EM_ARM, "arm"},
                                  Machine{EM_PPC64, "ppc64"},   Machine{EM_S390, "s390x"},
                                  Machine{EM_RISCV, "riscv64"}};

bool RunsHere(unsigned machine) {
#if defined(__x86_64__)
  return machine == EM_X86_64 || machine == EM_386;
#elif defined(__aarch64__)
  return machine == EM_AARCH64 || machine == EM_ARM;
#else
#error "which ELF machines run here?"
#endif
}

template <class Value>
std::optional<Value> ReadAt(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

/// The loader in a 64-bit ELF file; empty: none, or not within its beginning.
std::string LoaderOf(std::string_view bytes) {
  const auto header = ReadAt<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return {};
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    const auto part = ReadAt<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) return {};
    if (part->p_type != PT_INTERP) continue;
    if (part->p_offset > bytes.size() || bytes.size() - part->p_offset < part->p_filesz) return {};
    const std::string_view name = bytes.substr(part->p_offset, part->p_filesz);
    return std::string(name.substr(0, name.find('\0')));
  }
  return {};
}

std::string WhyNotElf(std::string_view bytes, const std::function<bool(const std::string&)>& has_file) {
  const auto machine = ReadAt<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_machine));
  if (!machine) return "it is cut short";
  if (!RunsHere(*machine)) {
    const auto known = std::ranges::find(kMachines, *machine, &Machine::number);
    return "it is built for another kind of machine" +
           (known == kMachines.end() ? std::string() : " (" + std::string(known->name) + ")");
  }
  const std::string loader = LoaderOf(bytes);
  if (loader.empty() || has_file(loader)) return {};
  return "it needs the loader " + loader + ", which the image does not have";
}

std::string InterpreterOf(std::string_view line) {
  line = line.substr(0, line.find('\n'));
  const std::size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_first_of(" \t\r", begin) - begin));
}

}  // namespace

Result<std::vector<std::string>> ProgramOf(const ImageConfig& image,
                                           const replica::v1::Manifest::Container& container) {
  const bool own_command = container.command_size() > 0;
  const bool own_args = container.args_size() > 0;
  std::vector<std::string> program;
  if (own_command) {
    program.assign(container.command().begin(), container.command().end());
  } else {
    program = image.entrypoint;
  }
  if (own_args) {
    program.insert(program.end(), container.args().begin(), container.args().end());
  } else if (!own_command) {
    program.insert(program.end(), image.command.begin(), image.command.end());
  }
  if (program.empty() || program.front().empty()) {
    return std::unexpected(
        FailedPrecondition("the image has neither ENTRYPOINT nor CMD, and the job gives no command to run"));
  }
  program.insert(program.end(), container.service_args().begin(), container.service_args().end());
  return program;
}

std::string WhyNotRunnable(std::string_view beginning,
                           const std::function<bool(const std::string& path)>& has_file) {
  if (beginning.starts_with(ELFMAG)) return WhyNotElf(beginning, has_file);
  if (!beginning.starts_with("#!")) return "it is neither a program nor a script with a #! line";
  const std::string interpreter = InterpreterOf(beginning);
  if (interpreter.empty()) return "its #! line names no interpreter";
  if (beginning.substr(0, beginning.find('\n')).ends_with('\r'))
    return "its #! line ends in a carriage return: the script was written on Windows";
  if (!has_file(interpreter)) return "it needs " + interpreter + ", which the image does not have";
  return {};
}

}  // namespace trainyard::container
