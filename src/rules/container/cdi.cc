#include "rules/container/cdi.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/wire/yaml.h"

namespace trainyard::container {

namespace {

std::string Text(const YAML::Node& node, const char* name) {
  const YAML::Node value = node[name];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

std::vector<std::string> Texts(const YAML::Node& node, const char* name) {
  std::vector<std::string> texts;
  const YAML::Node list = node[name];
  if (!list || !list.IsSequence()) return texts;
  for (const YAML::Node& item : list) {
    if (item.IsScalar()) texts.push_back(item.Scalar());
  }
  return texts;
}

/// Calls `each` for every element of a list of objects.
template <class Each>
void ForEach(const YAML::Node& node, const char* name, Each each) {
  const YAML::Node list = node[name];
  if (!list || !list.IsSequence()) return;
  for (const YAML::Node& item : list) {
    if (item.IsMap()) each(item);
  }
}

constexpr std::array<std::string_view, 4> kMembers = {"env", "deviceNodes", "mounts", "hooks"};

CdiEdits ReadEdits(const YAML::Node& owner) {
  CdiEdits edits;
  const YAML::Node node = owner["containerEdits"];
  if (!node || !node.IsMap()) return edits;
  edits.environment = Texts(node, "env");
  for (const auto& member : node) {
    const std::string name = member.first.IsScalar() ? member.first.Scalar() : std::string();
    if (std::ranges::find(kMembers, name) == kMembers.end()) edits.left_out.push_back(name);
  }
  ForEach(node, "deviceNodes", [&](const YAML::Node& device) {
    const std::string path = Text(device, "path");
    const std::string host = Text(device, "hostPath");
    if (!path.empty()) edits.nodes.push_back({path, host.empty() ? path : host});
  });
  ForEach(node, "mounts", [&](const YAML::Node& mount) {
    const std::string type = Text(mount, "type");
    if (!type.empty() && type != "bind" && type != "none") {
      edits.left_out.push_back("mount of type " + type);
      return;
    }
    const std::vector<std::string> options = Texts(mount, "options");
    edits.binds.push_back({.source = Text(mount, "hostPath"),
                           .destination = Text(mount, "containerPath"),
                           .read_only = std::ranges::find(options, "ro") != options.end()});
  });
  ForEach(node, "hooks", [&](const YAML::Node& hook) {
    edits.hooks.push_back({.stage = Text(hook, "hookName"),
                           .path = Text(hook, "path"),
                           .args = Texts(hook, "args"),
                           .environment = Texts(hook, "env")});
  });
  std::erase_if(edits.binds,
                [](const Bind& bind) { return bind.source.empty() || bind.destination.empty(); });
  return edits;
}

constexpr std::string_view kAllDevices = "all";

bool IsDevice(const CdiDevice& device, const std::string& wanted) {
  if (device.name == wanted) return true;
  return device.name != kAllDevices &&
         std::ranges::any_of(device.edits.nodes,
                             [&](const CdiEdits::Node& node) { return node.host_path == wanted; });
}

Result<const CdiDevice*> Find(const CdiSpec& spec, const std::string& wanted) {
  const auto device =
      std::ranges::find_if(spec.devices, [&](const CdiDevice& one) { return IsDevice(one, wanted); });
  if (device == spec.devices.end()) return std::unexpected(NotFound("it has no device " + wanted));
  return &*device;
}

template <class Item>
void AddNew(std::vector<Item>& items, const std::vector<Item>& further) {
  for (const Item& item : further) {
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
  }
}

}  // namespace

void CdiEdits::Add(const CdiEdits& other) {
  AddNew(environment, other.environment);
  AddNew(nodes, other.nodes);
  AddNew(binds, other.binds);
  AddNew(hooks, other.hooks);
  AddNew(left_out, other.left_out);
}

Result<CdiSpec> ParseCdi(std::string_view text) {
  const Result<YAML::Node> loaded = wire::LoadYaml(text);
  if (!loaded) return std::unexpected(DataLoss(loaded.error().message));
  const YAML::Node& file = *loaded;
  try {  // yaml-cpp throws
    if (!file.IsMap()) return std::unexpected(DataLoss("it is no CDI specification"));
    CdiSpec spec{.kind = Text(file, "kind"), .edits = ReadEdits(file)};
    if (spec.kind.empty()) return std::unexpected(DataLoss("it has no kind"));
    ForEach(file, "devices", [&](const YAML::Node& device) {
      spec.devices.push_back({.name = Text(device, "name"), .edits = ReadEdits(device)});
    });
    return spec;
  } catch (const YAML::Exception& wrong) {
    return std::unexpected(DataLoss(wrong.what()));
  }
}

Result<std::vector<std::string>> NamesOf(const CdiSpec& spec, const std::vector<std::string>& devices) {
  std::vector<std::string> names;
  for (const std::string& wanted : devices) {
    TY_TRY(const CdiDevice* device, Find(spec, wanted));
    names.push_back(device->name);
  }
  return names;
}

Result<CdiEdits> EditsFor(const CdiSpec& spec, const std::vector<std::string>& devices) {
  CdiEdits edits = spec.edits;
  for (const std::string& wanted : devices) {
    TY_TRY(const CdiDevice* device, Find(spec, wanted));
    edits.Add(device->edits);
  }
  return edits;
}

}  // namespace trainyard::container
