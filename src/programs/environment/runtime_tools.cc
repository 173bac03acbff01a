#include "programs/environment/runtime_tools.h"

#include <string>

#include "base/async/file.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/runtime_builder.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kProgramMode = 0755;

/// For a shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Variables that point programs to our Python must not reach the tool's.
std::string Launcher(const std::string& tool, const fs::path& program) {
  const std::string path = Quoted(program.string());
  return "#!/bin/sh\nunset PYTHONPATH PYTHONHOME VIRTUAL_ENV\n[ -x " + path + " ] || {\n  echo '" + tool +
         " is not installed here; trainyard runtimes install " + tool +
         " installs it' >&2\n  exit 127\n}\nexec " + path + " \"$@\"\n";
}

Status AddTool(const Layout& layout, const std::string& name, const fs::path& folder,
               const PreparationHooks& hooks) {
  TY_TRY(const RuntimeVersion tool, LoadTool(layout.root, name));
  const Status built = BuildRuntime(layout, tool, hooks);
  if (!built) {
    const Code code = built.error().code;
    if (code == Code::kCancelled || code == Code::kResourceExhausted) return built;
    hooks.error(name + " cannot be installed: " + built.error().message);
  }
  return WriteFileAtomically(folder / "bin" / name, Launcher(name, layout.Runtime(tool) / "bin" / name),
                             kProgramMode);
}

}  // namespace

Status AddTools(const Layout& layout, const RuntimeVersion& runtime, const fs::path& folder,
                const PreparationHooks& hooks) {
  for (const std::string& tool : runtime.tools) TY_RETURN_IF_ERROR(AddTool(layout, tool, folder, hooks));
  return {};
}

}  // namespace trainyard::environment
