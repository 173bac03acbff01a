#include "programs/environment/layer_skeleton.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/async/file.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kScriptBytesMax = std::size_t{64} << 10;

/// Where the interpreter may be named: "#!PATH", or "#!/bin/sh" and an exec line if the path is long.
constexpr int kHeadLines = 2;

std::size_t HeadLength(std::string_view text) {
  std::size_t end = 0;
  for (int line = 0; line < kHeadLines && end != std::string_view::npos; ++line)
    end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

}  // namespace

Status WriteLayerSkeleton(const fs::path& runtime, const fs::path& layer, const std::string& python_version) {
  const fs::path site_packages = Layout::SitePackages(layer, python_version);
  TY_RETURN_IF_ERROR(MakeFolders(site_packages));
  TY_RETURN_IF_ERROR(MakeFolders(layer / "bin"));
  std::error_code error;
  // Links to the real program, which finds its standard library from there and the layer from the link.
  const fs::path program = fs::canonical(Layout::Interpreter(runtime), error);
  for (const std::string& name : {std::string("python"), std::string("python3"), "python" + python_version})
    if (!error) fs::create_symlink(program, layer / "bin" / name, error);
  if (!error) fs::copy_file(runtime / "pyvenv.cfg", layer / "pyvenv.cfg", error);
  if (error) return std::unexpected(ErrnoError(error.value(), layer.string()));
  TY_RETURN_IF_ERROR(WriteFileAtomically(Layout::LayerBase(layer), runtime.filename().native()));
  std::string quoted = Layout::SitePackages(runtime, python_version).string();
  for (std::size_t at = 0; (at = quoted.find_first_of("\\'", at)) != std::string::npos; at += 2)
    quoted.insert(at, "\\");
  return WriteFileAtomically(site_packages / "_trainyard_runtime.pth",
                             "import site; site.addsitedir('" + quoted + "')\n");
}

Status RetargetScripts(const fs::path& runtime, const fs::path& layer) {
  const std::string from = (runtime / "bin" / "python").string();
  const std::string to = (layer / "bin" / "python").string();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runtime / "bin", error)) {
    const fs::path target = layer / "bin" / entry.path().filename();
    std::error_code ignored;
    if (entry.is_symlink(ignored) || !entry.is_regular_file(ignored) || fs::exists(target, ignored)) continue;
    const Result<std::string> script = ReadFile(entry.path(), kScriptBytesMax);
    if (!script || !script->starts_with("#!")) continue;
    std::string head = script->substr(0, HeadLength(*script));
    const std::size_t at = head.find(from);
    if (at == std::string::npos) continue;
    const std::string rest = script->substr(head.size());
    TY_RETURN_IF_ERROR(WriteFileAtomically(target, head.replace(at, from.size(), to) + rest, 0755));
  }
  if (error) return std::unexpected(ErrnoError(error.value(), (runtime / "bin").string()));
  return {};
}

}  // namespace trainyard::environment
