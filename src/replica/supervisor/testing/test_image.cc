#include "replica/supervisor/testing/test_image.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "base/async/file.h"
#include "base/check.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCommands[] = {"sh",    "cat",   "echo",     "env",    "id",    "ls", "sleep",
                                     "true",  "false", "touch",    "stat",   "df",    "dd", "kill",
                                     "mknod", "ps",    "grep",     "awk",    "mount", "wc", "pwd",
                                     "tail",  "tr",    "hostname", "umount", "head"};

void WriteWords(std::ofstream& file, const std::string& key, const std::vector<std::string>& words) {
  for (const std::string& word : words) file << key << " " << word << "\n";
}

}  // namespace

std::string FindTool(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/", "/usr/local/bin/"}) {
    if (fs::exists(folder + name)) return folder + name;
  }
  return {};
}

TestImage::TestImage(std::string images_dir, std::string digest)
    : folder_(std::move(images_dir) + "/" + std::move(digest)) {
  for (const char* folder : {"/bin", "/etc", "/proc", "/sys", "/dev", "/root", "/tmp"})
    fs::create_directories(Layer(0) + folder);
  fs::permissions(Layer(0) + "/tmp", fs::perms::all | fs::perms::sticky_bit);
  fs::copy_file(FindTool("busybox"), Layer(0) + "/bin/busybox", fs::copy_options::overwrite_existing);
  for (const char* command : kCommands) {
    if (!fs::exists(Layer(0) + "/bin/" + command))
      fs::create_symlink("busybox", Layer(0) + "/bin/" + command);
  }
  AddFile(0, "/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbob:x:1000:1000:Bob:/home/bob:/bin/sh\n");
  AddFile(0, "/etc/group", "root:x:0:\nbob:x:1000:\nvideo:x:44:bob\n");
}

std::string TestImage::Layer(int layer) const {
  const std::string number = std::to_string(layer);
  return folder_ + "/" + std::string(3 - number.size(), '0') + number;
}

void TestImage::AddFile(int layer, const std::string& path, const std::string& text, bool executable) {
  for (int i = 0; i <= layer; ++i) fs::create_directories(Layer(i));
  const std::string file = Layer(layer) + path;
  fs::create_directories(fs::path(file).parent_path());
  std::ofstream(file) << text;
  if (executable) fs::permissions(file, fs::perms(0755));
}

void TestImage::AddWhiteout(int layer, const std::string& path) {
  const std::string file = Layer(layer) + path;
  fs::create_directories(fs::path(file).parent_path());
  TY_CHECK(mknod(file.c_str(), S_IFCHR, makedev(0, 0)) == 0);
}

void TestImage::Write() const {
  std::ofstream file(folder_ + "/config");
  WriteWords(file, "entrypoint", config.entrypoint);
  WriteWords(file, "command", config.command);
  WriteWords(file, "environment", config.environment);
  file << "working_dir " << config.working_dir << "\nuser " << config.user << "\nstop_signal "
       << config.stop_signal << "\n";
}

std::optional<image::Image> ReadTestImage(const std::string& images_dir, const std::string& digest) {
  const std::string folder = images_dir + "/" + digest;
  std::ifstream file(folder + "/config");
  if (!file) return std::nullopt;
  image::Image image{.digest = digest};
  for (std::string line; std::getline(file, line);) {
    const std::string key = line.substr(0, line.find(' '));
    const std::string value = line.substr(key.size() + 1);
    if (key == "entrypoint") image.config.entrypoint.push_back(value);
    if (key == "command") image.config.command.push_back(value);
    if (key == "environment") image.config.environment.push_back(value);
    if (key == "working_dir") image.config.working_dir = value;
    if (key == "user") image.config.user = value;
    if (key == "stop_signal") image.config.stop_signal = value;
  }
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    const std::string layer = folder + "/" + std::string(3 - number.size(), '0') + number;
    if (!fs::exists(layer)) break;
    image.layers.push_back(layer);
  }
  return image;
}

}  // namespace trainyard::replica
