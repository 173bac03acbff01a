#include "programs/environment/image_python.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/process/run_tool.h"
#include "programs/environment/build_lock.h"
#include "programs/environment/build_room.h"
#include "programs/environment/elf_file.h"
#include "programs/environment/image_files.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;
using Entry = ImageFiles::Entry;

/// How many of an image's versions a message names.
constexpr std::size_t kVersionsShown = 8;
constexpr std::size_t kDigestDigits = 12;
constexpr auto kExecutable = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
constexpr auto kReadable =
    fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read;

/// The libraries of the C library and of the compiler: the machine's are used, since packages of the index
/// rely on them.
constexpr std::array<std::string_view, 11> kMachinesLibraries{
    "ld-linux",   "libc.so",      "libm.so",   "libpthread.so", "libdl.so",    "librt.so",
    "libutil.so", "libresolv.so", "libanl.so", "libgcc_s.so",   "libstdc++.so"};
constexpr std::array<std::string_view, 6> kLibraryFolders{"/usr/local/lib",
                                                          "/lib/x86_64-linux-gnu",
                                                          "/usr/lib/x86_64-linux-gnu",
                                                          "/lib/aarch64-linux-gnu",
                                                          "/usr/lib64",
                                                          "/usr/lib"};
constexpr std::array<std::string_view, 3> kProgramFolders{"/usr/local/bin", "/usr/bin", "/opt/conda/bin"};

/// Checks that environments can be made with the Python, and which modules that programs expect it lacks.
constexpr const char* kCheck =
    "import importlib, zlib, ctypes\n"
    "lacks = []\n"
    "for name in ('ssl', 'sqlite3', 'bz2', 'lzma', 'hashlib'):\n"
    "    try:\n"
    "        importlib.import_module(name)\n"
    "    except ImportError:\n"
    "        lacks.append(name)\n"
    "print('lacks ' + ', '.join(lacks) if lacks else 'complete')\n";

bool IsMachines(std::string_view library) {
  return std::ranges::any_of(kMachinesLibraries,
                             [&](std::string_view name) { return library.starts_with(name); });
}

std::unexpected<Error> Beyond(const std::string& what, std::uint64_t limit, std::string_view unit) {
  return std::unexpected(
      FailedPrecondition(what + " has more than " + std::to_string(limit) + " " + std::string(unit)));
}

/// One Python of an image, being copied.
struct Copy {
  const ImageFiles& image;
  ImagePythonLimits limits;
  std::string version;  ///< "3.7"
  Entry program;
  fs::path prefix;                    ///< in the image: the program is PREFIX/bin/python3.7
  fs::path target;                    ///< on this machine
  std::set<std::string> libraries{};  ///< copied, or not found
  std::size_t files = 0;              ///< copied so far
  std::uint64_t bytes = 0;

  [[nodiscard]] fs::path Libraries() const { return target / "lib"; }
  Status CopyFile(const Entry& from, const fs::path& to, bool is_program);
  Status Count(const Entry& file);
  Status CopyFolder(const fs::path& inside, const fs::path& to, int depth);
  Status CopyLibraries(const ElfFile& elf, const Entry& of);
};

std::optional<Entry> FindLibrary(const Copy& copy, const std::string& name, const ElfFile& elf,
                                 const Entry& of) {
  std::vector<fs::path> folders;
  for (std::string_view rest = elf.run_path; !rest.empty();) {
    std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
      if (folder.starts_with(origin)) folder.replace(0, origin.size(), of.inside.parent_path().string());
    if (folder.starts_with('/')) folders.emplace_back(folder);
  }
  folders.push_back(copy.prefix / "lib");
  folders.insert(folders.end(), kLibraryFolders.begin(), kLibraryFolders.end());
  for (const fs::path& folder : folders)
    if (auto found = copy.image.Find(folder / name); found && !found->is_directory) return found;
  return std::nullopt;
}

/// Copies the libraries that a program or library needs, and those that they need.
Status Copy::CopyLibraries(const ElfFile& elf, const Entry& of) {
  for (const std::string& name : elf.needed) {
    if (IsMachines(name) || name.find('/') != std::string::npos || !libraries.insert(name).second) continue;
    if (libraries.size() > limits.libraries)
      return Beyond("What the Python of the image needs", limits.libraries, "libraries");
    const auto found = FindLibrary(*this, name, elf, of);
    if (found) TY_RETURN_IF_ERROR(CopyFile(*found, Libraries() / name, false));
  }
  return {};
}

/// Counts a file against the limits, before it is read.
Status Copy::Count(const Entry& file) {
  constexpr unsigned kMiBBits = 20;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file.outside, error);
  if (error) return std::unexpected(ErrnoError(error.value(), "look at " + file.outside.string()));
  if (size > limits.file_bytes)
    return Beyond(file.inside.string() + " of the image", limits.file_bytes >> kMiBBits, "MiB");
  bytes += size;
  if (bytes > limits.bytes) return Beyond("The Python of the image", limits.bytes >> kMiBBits, "MiB");
  if (++files > limits.files) return Beyond("The Python of the image", limits.files, "files");
  return {};
}

// NOLINTNEXTLINE(misc-no-recursion): a library is copied once, and there are ImagePythonLimits::libraries
Status Copy::CopyFile(const Entry& from, const fs::path& to, bool is_program) {
  TY_RETURN_IF_ERROR(Count(from));
  TY_TRY(std::string content, ReadFile(from.outside, limits.file_bytes));
  if (const auto elf = ReadElf(content)) {
    TY_RETURN_IF_ERROR(CopyLibraries(*elf, from));
    // A run path in the file, maybe an absolute one, would keep the loader from searching the directory in
    // which we put libraries.
    if (is_program || !elf->run_path.empty()) {
      const fs::path there = fs::path("$ORIGIN") / Libraries().lexically_relative(to.parent_path());
      TY_TRY(content, WithRunPath(std::move(content), there.string()));
    }
  } else if (is_program) {
    return std::unexpected(elf.error());
  }
  TY_TRY(const UniqueFd file, OpenFile(to, O_WRONLY | O_CREAT | O_TRUNC));
  TY_RETURN_IF_ERROR(WriteAll(file.get(), content));
  std::error_code error;
  const bool executable =
      (fs::status(from.outside, error).permissions() & fs::perms::owner_exec) != fs::perms::none;
  fs::permissions(to, executable ? kReadable | kExecutable : kReadable, error);
  // Bytecode contains the modification time of its source.
  fs::last_write_time(to, fs::last_write_time(from.outside, error), error);
  if (error) return std::unexpected(ErrnoError(error.value(), "copy " + to.string()));
  return {};
}

/// Whether a name is left out: the image's packages, tests, files that only programs which embed Python need.
bool IsLeftOut(std::string_view name) {
  return name == "site-packages" || name == "dist-packages" || name == "test" || name == "idlelib" ||
         name.starts_with("config-") || name.ends_with(".a");
}

Status MakeReadableFolder(const fs::path& folder) {
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  std::error_code error;
  fs::permissions(folder, kReadable | kExecutable, error);
  return {};
}

// NOLINTNEXTLINE(misc-no-recursion): ImagePythonLimits::depth
Status Copy::CopyFolder(const fs::path& inside, const fs::path& to, int depth) {
  if (depth > limits.depth)
    return Beyond(inside.string() + " of the image", static_cast<std::uint64_t>(limits.depth),
                  "folders above it");
  TY_RETURN_IF_ERROR(MakeReadableFolder(to));
  TY_TRY(const std::vector<std::string> names, image.List(inside));
  for (const std::string& name : names) {
    if (IsLeftOut(name)) continue;
    const auto found = image.Find(inside / name);
    if (!found) continue;
    TY_RETURN_IF_ERROR(found->is_directory ? CopyFolder(found->inside, to / name, depth + 1)
                                           : CopyFile(*found, to / name, false));
  }
  return {};
}

std::string Joined(const std::vector<std::string>& words, std::string_view between) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : std::string(between)) + word;
  return joined;
}

std::vector<fs::path> ProgramFolders(const PythonImage& image) {
  std::vector<fs::path> folders = image.search_path;
  folders.insert(folders.end(), kProgramFolders.begin(), kProgramFolders.end());
  return folders;
}

/// The Pythons that an image has, for a message.
std::string PythonsOf(const PythonImage& image, const ImageFiles& files) {
  constexpr std::string_view kName = "python";
  std::vector<std::string> versions;
  for (const fs::path& folder : ProgramFolders(image)) {
    const auto found = files.Find(folder);
    if (!found) continue;
    const auto names = files.List(found->inside);
    if (!names) continue;  // for a message only
    for (const std::string& name : *names) {
      if (!name.starts_with(kName) || !ParseMajorMinor(name.substr(kName.size()))) continue;
      const std::string version = name.substr(kName.size());
      if (std::ranges::find(versions, version) == versions.end()) versions.push_back(version);
    }
  }
  if (versions.size() > kVersionsShown) versions.resize(kVersionsShown);
  return versions.empty() ? "It has none." : "It has Python " + Joined(versions, ", ") + ".";
}

/// The program and its installation: PREFIX/bin/python3.7 and PREFIX/lib/python3.7/os.py.
Result<Copy> FindPython(const PythonImage& image, const ImageFiles& files, const ImagePythonLimits& limits,
                        std::vector<std::string> versions) {
  std::ranges::sort(versions,
                    [](const auto& a, const auto& b) { return ParseMajorMinor(a) > ParseMajorMinor(b); });
  for (const std::string& version : versions) {
    for (const fs::path& folder : ProgramFolders(image)) {
      const auto program = files.Find(folder / ("python" + version));
      if (!program || program->is_directory) continue;
      const fs::path prefix = program->inside.parent_path().parent_path();
      if (!files.Find(prefix / "lib" / ("python" + version) / "os.py")) continue;
      return Copy{.image = files,
                  .limits = limits,
                  .version = version,
                  .program = *program,
                  .prefix = prefix,
                  .target = {}};
    }
  }
  return std::unexpected(FailedPrecondition("The image " + image.name + " has no Python " +
                                            Joined(versions, " or ") + ". " + PythonsOf(image, files)));
}

/// The program is moved to its place last: until then nobody mistakes the directory for a Python.
fs::path NewPrograms(const Copy& copy) { return copy.target / "bin.new"; }

Status CopyAll(Copy& copy) {
  const std::string name = "python" + copy.version;
  TY_RETURN_IF_ERROR(RemoveTree(copy.target));
  TY_RETURN_IF_ERROR(MakeReadableFolder(copy.target));
  TY_RETURN_IF_ERROR(MakeReadableFolder(copy.Libraries()));
  TY_RETURN_IF_ERROR(MakeReadableFolder(NewPrograms(copy)));
  TY_RETURN_IF_ERROR(copy.CopyFile(copy.program, NewPrograms(copy) / name, true));
  TY_RETURN_IF_ERROR(copy.CopyFolder(copy.prefix / "lib" / name, copy.Libraries() / name, 0));
  // For packages that have to be compiled.
  for (const std::string& headers : {name, name + "m"}) {
    if (const auto found = copy.image.Find(copy.prefix / "include" / headers); found && found->is_directory)
      TY_RETURN_IF_ERROR(copy.CopyFolder(found->inside, copy.target / "include" / headers, 0));
  }
  return {};
}

/// Why it does not run here, from the output of the loader or the interpreter.
Error DoesNotRun(const PythonImage& image, const Copy& copy, const ToolEnd& end) {
  constexpr std::string_view kNewer = "version `GLIBC_";
  const std::string which = "The Python " + copy.version + " of " + image.name;
  for (const std::string& line : end.tail) {
    const std::size_t at = line.find(kNewer);
    if (at == std::string::npos) continue;
    const std::string rest = line.substr(at + kNewer.size());
    return FailedPrecondition(which + " needs glibc " + rest.substr(0, rest.find('\'')) +
                              ", and this machine has " + ::gnu_get_libc_version() +
                              ". Use an image of an older Debian release.");
  }
  return FailedPrecondition(which + " does not run on this machine: " +
                            (end.tail.empty() ? "it exits without a message" : end.tail.back()));
}

/// Runs the image's program, isolated like packages' code.
Status Check(const Layout& layout, const PythonImage& image, const Copy& copy, int lock,
             const PreparationHooks& hooks) {
  const fs::path program = NewPrograms(copy) / ("python" + copy.version);
  TY_TRY(const auto room,
         BuildRoom::Open({.layout = layout, .hooks = hooks, .folder = copy.target, .lock = lock}));
  TY_TRY(const ToolEnd end, room->Run({program.string(), "-I", "-c", kCheck}, {}, {}));
  if (!end.ok() || end.tail.empty()) return std::unexpected(DoesNotRun(image, copy, end));
  if (end.tail.back() != "complete")
    hooks.info("The Python " + copy.version + " of " + image.name + " " + end.tail.back() + ".");
  // Programs see it read-only, so nobody else could store the bytecode. Files that cannot be compiled are no
  // modules.
  TY_TRY(const ToolEnd compiled, room->Run({program.string(), "-I", "-m", "compileall", "-q",
                                            (copy.Libraries() / program.filename()).string()},
                                           {}, {}));
  return room->TakeBack();
}

/// After a power cut the program must not exist without the rest.
Status Finish(const Copy& copy) {
  TY_TRY(const UniqueFd folder, OpenFile(copy.target, O_RDONLY | O_DIRECTORY));
  if (::syncfs(folder.get()) != 0)
    return std::unexpected(ErrnoError(errno, "syncfs " + copy.target.string()));
  std::error_code error;
  fs::rename(NewPrograms(copy), copy.target / "bin", error);
  if (error) return std::unexpected(ErrnoError(error.value(), "rename " + NewPrograms(copy).string()));
  return {};
}

}  // namespace

Status TakePythonFromImage(const Layout& layout, const PythonImage& image,
                           const std::vector<std::string>& versions, const PreparationHooks& hooks,
                           const ImagePythonLimits& limits) {
  const ImageFiles files(image.layers);
  TY_TRY(Copy copy, FindPython(image, files, limits, versions));
  TY_TRY(const std::string program, ReadFile(copy.program.outside, limits.file_bytes));
  if (const auto elf = ReadElf(program); elf && elf->loader.find("musl") != std::string::npos)
    return std::unexpected(FailedPrecondition(
        "The Python " + copy.version + " of " + image.name +
        " is for musl (Alpine). Use an image of Debian, such as python:" + copy.version + "-slim."));
  const std::size_t digits = image.digest.find(':') + 1;
  copy.target =
      layout.Pythons() / ("image-" + copy.version + "-" + image.digest.substr(digits, kDigestDigits));
  TY_RETURN_IF_ERROR(MakeFolders(layout.Pythons()));
  const auto waiting = [&] { hooks.info("Waiting for another process, which is copying the same Python."); };
  TY_TRY(const BuildLock lock, BuildLock::Acquire(Layout::Lock(copy.target), waiting, hooks.stop));
  if (::access((copy.target / "bin" / ("python" + copy.version)).c_str(), X_OK) == 0) return {};
  hooks.info("Copying Python " + copy.version + " of " + image.name + " (" + copy.program.inside.string() +
             ").");
  Status done = CopyAll(copy);
  if (done) done = Check(layout, image, copy, lock.descriptor(), hooks);
  if (done) done = lock.Confirm();
  if (done) done = Finish(copy);
  if (!done && lock.Confirm()) std::ignore = RemoveTree(copy.target);  // the original error is what counts
  return done;
}

}  // namespace trainyard::environment
