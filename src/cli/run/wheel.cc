#include "cli/run/wheel.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/packing/archive_writer.h"
#include "base/text/base64.h"
#include "base/wire/runs_bucket.h"
#include "cli/gcloud/json_value.h"
#include "cli/program_main_files.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kInfo = "trainyard_program-0.dist-info/";

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
  const std::string package = std::string(wire::kProgramModule) + "/";
  std::vector<ProgramFile> files = {
      {package + "__init__.py", ""},
      {package + "__main__.py", std::string(program_main::Files()[0].bytes)},
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
