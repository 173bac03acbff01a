#include "cli/run/wheel.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/packing/archive_writer.h"
#include "base/text/base64.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kInfo = "trainyard_program-0.dist-info/";

/// It becomes the program, instead of running it: sys.argv, __main__, spawned processes and tracebacks are
/// those of `python train.py`.
constexpr std::string_view kMain =
    R"("""Puts the program's files into the working directory and becomes the program."""

import json
import os
import shutil
import sys

here = os.path.dirname(os.path.abspath(__file__))
files = os.path.join(here, "files")
for folder, _, names in os.walk(files):
    target = os.path.join(os.getcwd(), os.path.relpath(folder, files))
    os.makedirs(target, exist_ok=True)
    for name in names:
        source, copy = os.path.join(folder, name), os.path.join(target, name)
        shutil.copyfile(source, copy)
        if os.stat(source).st_mode & 0o100:
            mode = os.stat(copy).st_mode
            os.chmod(copy, mode | (mode & 0o444) >> 2)
with open(os.path.join(here, "command.json")) as file:
    command = json.load(file)
os.execv(sys.executable, [sys.executable, *command, *sys.argv[1:]])
)";

/// All files have the first time that a zip archive can have.
void Pack(const ProgramFile& file, packing::ArchiveWriter& zip, std::string& archive) {
  const packing::ArchiveEntry entry{.name = file.path,
                                    .bytes = static_cast<std::int64_t>(file.bytes.size()),
                                    .modified = {},
                                    .executable = file.executable};
  TY_CHECK(zip.Begin(entry, archive) && zip.Add(file.bytes, archive) && zip.End(archive));
}

std::string Digest(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return text::Base64({reinterpret_cast<const char*>(digest.data()), digest.size()},
                      text::Base64Form::kUrlBare);
}

/// A field of a CSV line.
std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string Metadata(const PackagedProgram& program) {
  std::string text = "Metadata-Version: 2.1\nName: trainyard-program\nVersion: 0\n";
  for (const std::string& requirement : program.requirements) text += "Requires-Dist: " + requirement + "\n";
  return text;
}

}  // namespace

std::string MakeWheel(const PackagedProgram& program) {
  const std::string package = std::string(kProgramModule) + "/";
  std::vector<ProgramFile> files = {
      {package + "__init__.py", ""},
      {package + "__main__.py", std::string(kMain)},
      {package + "command.json", PrintCompact(JsonArray(program.command)) + "\n"}};
  for (const ProgramFile& file : program.files)
    files.push_back({package + "files/" + file.path, file.bytes, file.executable});
  std::ranges::sort(files, {}, &ProgramFile::path);
  files.push_back({std::string(kInfo) + "METADATA", Metadata(program)});
  files.push_back({std::string(kInfo) + "WHEEL",
                   "Wheel-Version: 1.0\nGenerator: trainyard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"});
  std::string record;
  std::string archive;
  const auto zip = packing::MakeZipWriter();
  for (const ProgramFile& file : files) {
    Pack(file, *zip, archive);
    record +=
        Quoted(file.path) + ",sha256=" + Digest(file.bytes) + "," + std::to_string(file.bytes.size()) + "\n";
  }
  const std::string name = std::string(kInfo) + "RECORD";
  Pack({name, record + name + ",,\n"}, *zip, archive);
  while (zip->Finish(archive).value_or(false)) {
  }
  return archive;
}

}  // namespace trainyard::cli
