#include "rules/vertex/runtime_images.h"

#include <algorithm>
#include <array>

namespace trainyard::vertex {
namespace {

/// Images named FRAMEWORK-DEVICE.MAJOR-MINOR with a minor version in the range.
struct Row {
  std::string_view framework;  ///< "tf"
  std::string_view major;
  int minor_min;
  int minor_max;
  std::string_view suffix;   ///< ".py310" in the name; "*": any or none
  std::string_view version;  ///< empty: the number in the name
  std::string_view python;
};

constexpr int kAnyMinor = 99;

/// The first row that matches decides.
constexpr std::array kRows = {
    Row{"tf", "2", 1, 11, "", "", "3.7"},
    Row{"tf", "2", 8, 15, ".py310", "2.15-py310", "3.10"},
    Row{"tf", "2", 15, 15, ".cp310", "2.15-py310", "3.10"},
    Row{"tf", "2", 16, kAnyMinor, "*", "2.21", ""},
    Row{"pytorch", "1", 4, 13, "*", "pytorch", ""},
    Row{"pytorch", "2", 0, kAnyMinor, "*", "pytorch-2.15", ""},
    Row{"scikit-learn", "0", 20, 24, "*", "2.15", ""},
    Row{"sklearn", "1", 0, kAnyMinor, "*", "2.15", ""},
    Row{"xgboost", "1", 1, kAnyMinor, "*", "2.15", ""},
    Row{"xgboost", "2", 0, kAnyMinor, "*", "2.15", ""},
};

constexpr std::array<std::string_view, 4> kRegistries = {
    "us-docker.pkg.dev/vertex-ai/training/", "europe-docker.pkg.dev/vertex-ai/training/",
    "asia-docker.pkg.dev/vertex-ai/training/", "gcr.io/cloud-aiplatform/training/"};

constexpr std::array<std::string_view, 4> kDevices = {"-cpu", "-gpu", "-tpu", "-xla"};

/// The part up to the separator, which is removed from `text`; all of it if there is no separator.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

/// -1 for anything but one or two digits.
int SmallNumber(std::string_view text) {
  if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != std::string_view::npos)
    return -1;
  int number = 0;
  for (const char digit : text) number = 10 * number + (digit - '0');
  return number;
}

/// "tf" for "tf-cpu"; empty if it names no device.
std::string_view FrameworkOf(std::string_view name) {
  for (const std::string_view device : kDevices)
    if (name.ends_with(device)) return name.substr(0, name.size() - device.size());
  return {};
}

/// "tf-cpu.2-8.py310" without registry, tag and digest; empty for images of others.
std::string_view NameOf(std::string_view image) {
  for (const std::string_view registry : kRegistries) {
    if (!image.starts_with(registry)) continue;
    image.remove_prefix(registry.size());
    return image.substr(0, image.find_first_of(":@"));
  }
  return {};
}

}  // namespace

std::optional<Runtime> RuntimeOf(std::string_view image) {
  std::string_view rest = NameOf(image);
  const std::string_view framework = FrameworkOf(TakeUntil(rest, '.'));
  if (framework.empty()) return std::nullopt;
  const std::string_view number = rest.substr(0, rest.find('.'));
  const std::string_view suffix = rest.substr(number.size());
  std::string_view minor_text = number;
  const std::string_view major = TakeUntil(minor_text, '-');
  const int minor = SmallNumber(minor_text);
  const auto* row = std::ranges::find_if(kRows, [&](const Row& one) {
    return one.framework == framework && one.major == major && one.minor_min <= minor &&
           minor <= one.minor_max && (one.suffix == "*" || one.suffix == suffix);
  });
  if (row == kRows.end()) return std::nullopt;
  std::string version(row->version);
  if (version.empty()) version = std::string(major) + "." + std::to_string(minor);
  return Runtime{.version = std::move(version), .python = std::string(row->python)};
}

std::string ImageOf(std::string_view runtime_version) {
  constexpr std::string_view kRegistry = kRegistries.front();
  for (const auto& [version, name] :
       {std::pair{"2.15", "tf-cpu.2-15.py310"}, std::pair{"2.15-py310", "tf-cpu.2-15.py310"},
        std::pair{"2.21", "tf-cpu.2-17.py310"}, std::pair{"pytorch", "pytorch-gpu.1-13.py310"},
        std::pair{"pytorch-2.15", "pytorch-gpu.2-4.py310"}})
    if (runtime_version == version) return std::string(kRegistry).append(name).append(":latest");
  constexpr std::string_view kMajor = "2.";
  if (!runtime_version.starts_with(kMajor)) return {};
  const std::string minor(runtime_version.substr(kMajor.size()));
  std::string image = std::string(kRegistry) + "tf-cpu.2-" + minor + ":latest";
  const auto runtime = RuntimeOf(image);
  return runtime && runtime->version == runtime_version ? image : std::string{};
}

bool IsReductionServer(std::string_view image) {
  constexpr std::string_view kName = "vertex-ai-restricted/training/reductionserver";
  const std::string_view bare = image.substr(0, image.find_first_of(":@"));
  return bare.ends_with(kName);
}

}  // namespace trainyard::vertex
