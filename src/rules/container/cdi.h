#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/container/oci_spec.h"

/// The Container Device Interface: files in which a driver's installer describes what containers need to use
/// its devices. Pure: any thread. Source: CDI specification 0.6, "CDI JSON Specification"; the files are YAML
/// or JSON.
namespace trainyard::container {

/// The changes that a device makes to a container.
struct CdiEdits {
  struct Node {
    std::string path;       ///< in the container
    std::string host_path;  ///< on the machine
    bool operator==(const Node&) const = default;
  };
  std::vector<std::string> environment;  ///< NAME=value
  std::vector<Node> nodes;
  std::vector<Bind> binds;
  std::vector<Hook> hooks;
  std::vector<std::string> left_out;  ///< members of the file that are not read: "additionalGids"
  bool operator==(const CdiEdits&) const = default;

  void Add(const CdiEdits& other);
};

struct CdiDevice {
  std::string name;  ///< "0", "GPU-...", "all"
  CdiEdits edits;
};

struct CdiSpec {
  std::string kind;  ///< "nvidia.com/gpu"
  std::vector<CdiDevice> devices;
  CdiEdits edits;  ///< for each of the devices
};

/// @return kDataLoss: not a CDI file; the message says what is wrong with it.
[[nodiscard]] Result<CdiSpec> ParseCdi(std::string_view text);

/// The names in the file of the devices, each of which is given by its name or by one of its device files.
/// kNotFound if one is missing. A name that means all devices is found by that name only.
[[nodiscard]] Result<std::vector<std::string>> NamesOf(const CdiSpec& spec,
                                                       const std::vector<std::string>& devices);
/// The edits for the devices, given as with NamesOf.
[[nodiscard]] Result<CdiEdits> EditsFor(const CdiSpec& spec, const std::vector<std::string>& devices);

}  // namespace trainyard::container
