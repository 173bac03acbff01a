#include "cli/run/wheel.h"

#include <openssl/sha.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

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

/// A zip archive of files that are compressed where that makes them smaller, all of one fixed time.
class Zip {
 public:
  void Add(const std::string& name, std::string_view bytes, bool executable = false) {
    const std::string packed = Deflate(bytes);
    const bool smaller = packed.size() < bytes.size();
    const std::string_view stored = smaller ? std::string_view(packed) : bytes;
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
    std::string common;
    Put16(20, common);      // version that can read it: 2.0
    Put16(0x0800, common);  // names are UTF-8
    Put16(smaller ? 8 : 0, common);
    Put16(0, common);       // midnight
    Put16(0x0021, common);  // of 1 January 1980: the first day that there is
    Put32(crc, common);
    Put32(stored.size(), common);
    Put32(bytes.size(), common);
    Put16(name.size(), common);
    Put16(0, common);
    const std::size_t place = archive_.size();
    Put32(0x04034b50, archive_);
    archive_.append(common).append(name).append(stored);
    Put32(0x02014b50, directory_);
    Put16(0x0314, directory_);  // made by: Unix, 2.0
    directory_ += common;
    Put16(0, directory_);  // comment, disk, kind
    Put16(0, directory_);
    Put16(0, directory_);
    Put32(std::uint32_t{executable ? 0100755U : 0100644U} << 16, directory_);
    Put32(place, directory_);
    directory_ += name;
    ++count_;
  }

  std::string Finish() && {
    const std::size_t place = archive_.size();
    archive_ += directory_;
    Put32(0x06054b50, archive_);
    Put32(0, archive_);
    Put16(count_, archive_);
    Put16(count_, archive_);
    Put32(directory_.size(), archive_);
    Put32(place, archive_);
    Put16(0, archive_);
    return std::move(archive_);
  }

 private:
  static void Put16(std::size_t value, std::string& out) {
    for (int shift = 0; shift < 16; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xff));
  }
  static void Put32(std::size_t value, std::string& out) {
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xff));
  }
  /// Raw deflate; empty if zlib refuses.
  static std::string Deflate(std::string_view bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      return std::string(bytes);
    std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int done = deflate(&stream, Z_FINISH);
    packed.resize(done == Z_STREAM_END ? stream.total_out : bytes.size());
    deflateEnd(&stream);
    return packed;
  }

  std::string archive_;
  std::string directory_;
  std::size_t count_ = 0;
};

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
  Zip zip;
  for (const ProgramFile& file : files) {
    zip.Add(file.path, file.bytes, file.executable);
    record +=
        Quoted(file.path) + ",sha256=" + Digest(file.bytes) + "," + std::to_string(file.bytes.size()) + "\n";
  }
  const std::string name = std::string(kInfo) + "RECORD";
  zip.Add(name, record + name + ",,\n");
  return std::move(zip).Finish();
}

}  // namespace trainyard::cli
