#include "cli/local/runtimes_folder.h"

#include <system_error>

namespace trainyard::cli {

namespace fs = std::filesystem;

fs::path FindDataDir(const Arguments& arguments, const SettingSources& sources) {
  return fs::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources))).lexically_normal();
}

fs::path FindEnvironmentsDir(const Arguments& arguments, const SettingSources& sources) {
  // Without links, as in the server: scripts of an environment contain this path of their interpreter.
  const fs::path folder = FindDataDir(arguments, sources) / "environments";
  std::error_code error;
  const fs::path resolved = fs::canonical(folder, error);
  return error ? folder : resolved;
}

}  // namespace trainyard::cli
