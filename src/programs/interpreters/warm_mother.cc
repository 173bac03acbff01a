#include "programs/interpreters/warm_mother.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/unix_socket.h"
#include "base/wire/runs_bucket.h"
#include "programs/environment/layout.h"
#include "programs/interpreters/warm_folder.h"
#include "rules/warm/learned.h"
#include "rules/warm/mother.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;
using environment::Environment;

constexpr std::size_t kDescriptionBytesMax = std::size_t{1} << 20;
constexpr const char* kNote = ".trainyard-modules";

WarmFolder FolderOf(const AttemptDir& dir) {
  return {fs::path(dir.path).parent_path().parent_path() / kWarmFolder};
}

/// The name of the directory of its runtime version; empty: not known.
std::string RuntimeOf(const Environment& environment) {
  if (environment.layer.empty())
    return fs::path(environment.python).parent_path().parent_path().filename().string();
  return ReadFile(environment::Layout::LayerBase(environment.layer)).value_or("");
}

warm::Variables VariablesOf(const std::vector<std::string>& assignments) {
  warm::Variables variables;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals != std::string::npos) variables[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return variables;
}

bool AddEntries(const fs::path& folder, std::vector<std::string>& names) {
  const auto entries = EntriesOf(folder);
  if (!entries) return false;
  for (const fs::path& entry : *entries) names.push_back(entry.filename().string());
  return true;
}

/// Adds all names below the folder that may be modules. A program may put any of its folders into sys.path.
bool AddModulesBelow(const fs::path& folder, std::vector<std::string>& names) {
  constexpr std::size_t kEntriesMax = 2'000;
  std::error_code error;
  std::size_t entries = 0;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++entries > kEntriesMax) return false;
    const fs::path& path = entry->path();
    if (path.extension() == ".py" || path.extension() == ".so" || entry->is_directory(error))
      names.push_back(path.filename().string());
  }
  return !error;
}

/// The entries of the layer's site-packages; nothing if they cannot be listed. Also those of the working
/// directory, and what the start module of `trainyard run` puts there: Python looks there first.
std::optional<std::vector<std::string>> OwnEntries(const AttemptDir& dir, const std::string& layer) {
  std::vector<std::string> names;
  if (!AddEntries(dir.Work(), names)) return std::nullopt;
  if (layer.empty()) return names;
  const auto python_version = ReadFile(environment::Layout::Marker(layer));
  if (!python_version) return std::nullopt;
  const fs::path packages = environment::Layout::SitePackages(layer, *python_version);
  if (!AddEntries(packages, names)) return std::nullopt;
  const fs::path files = packages / wire::kProgramModule / "files";
  if (access(files.c_str(), F_OK) == 0 && !AddModulesBelow(files, names)) return std::nullopt;
  return names;
}

/// The program may have put anything in its place.
std::string ReadNote(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found{};
  if (!file || fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  std::string note(warm::kNoteBytesMax, '\0');
  const ssize_t size = read(file.get(), note.data(), note.size());
  note.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return note;
}

}  // namespace

std::optional<WarmMother> FindWarmMother(const AttemptDir& dir, const Environment& environment,
                                         const std::vector<std::string>& variables) {
  const WarmFolder folder = FolderOf(dir);
  if (access(folder.path.c_str(), F_OK) != 0) return std::nullopt;
  const std::string runtime = RuntimeOf(environment);
  if (runtime.empty()) return std::nullopt;
  const auto text = ReadFile(folder.Description(runtime), kDescriptionBytesMax);
  const auto mother = text ? warm::ParseMother(*text) : std::nullopt;
  auto entries = mother ? OwnEntries(dir, environment.layer) : std::nullopt;
  if (!entries) return std::nullopt;
  const warm::Start start{.variables = VariablesOf(variables), .own = *std::move(entries)};
  if (const std::string why = warm::WhyFresh(start, *mother); !why.empty()) {
    Diagnose(DiagnosticLevel::kInfo, "the program starts in a fresh interpreter: " + why);
    return std::nullopt;
  }
  auto connection = ConnectUnix(folder.path / mother->socket, SOCK_NONBLOCK);
  if (!connection) return std::nullopt;
  fcntl(connection->get(), F_SETFL, 0);  // it was for connecting only
  return WarmMother{.connection = *std::move(connection), .line = warm::StartLine(*mother)};
}

void LearnModules(const AttemptDir& dir, const Environment& environment,
                  const std::map<std::string, std::string>& channels) {
  const WarmFolder folder = FolderOf(dir);
  const std::vector<std::string> learned = warm::ParseModules(ReadNote(dir.Tmp() + "/" + kNote));
  const std::string runtime = RuntimeOf(environment);
  if (learned.empty() || runtime.empty() || access(folder.path.c_str(), F_OK) != 0) return;
  std::string variables;
  for (const auto& [name, value] : channels) variables += name + "=" + value + "\n";
  if (ReadFile(folder.Variables(runtime)).value_or("") != variables)
    static_cast<void>(ReplaceFile(folder.Variables(runtime), variables, 0600));
  const fs::path file = folder.Learned(runtime);
  const auto known = warm::ParseModules(ReadFile(file, warm::kNoteBytesMax).value_or(""));
  const auto joined = warm::Joined(known, learned);
  if (joined.size() > known.size())
    static_cast<void>(ReplaceFile(file, warm::PrintModules(joined), 0600));
  else
    utimensat(AT_FDCWD, file.c_str(), nullptr, 0);  // the server sees that a program has ended
}

}  // namespace trainyard::replica
