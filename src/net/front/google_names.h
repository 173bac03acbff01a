#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

/// Google's host names that resolve to this installation inside a replica. Pure: any thread. Source: spec
/// environment.md section 11.
namespace trainyard::front {

inline constexpr std::string_view kStorageHost = "storage.googleapis.com";

/// The host that clients of studies use, from the API description within tensorflow_cloud.
inline constexpr std::string_view kStudiesHost = "us-central1-ml.googleapis.com";

/// The host that TPUClusterResolver asks about the TPU of its job.
inline constexpr std::string_view kTpuHost = "tpu.googleapis.com";

/// The names of a replica's front.
inline constexpr std::array<std::string_view, 7> kTlsHosts = {kStorageHost,
                                                              "www.googleapis.com",
                                                              "oauth2.googleapis.com",
                                                              "ml.googleapis.com",
                                                              "logging.googleapis.com",
                                                              kStudiesHost,
                                                              kTpuHost};

/// The names of Vertex AI: one for each region, since a hosts file has no wildcards, and those without a
/// region. Source: spec vertex.md section 1.
[[nodiscard]] std::vector<std::string> VertexHosts();

/// Whether the host is one of VertexHosts. Without a port; case is ignored.
[[nodiscard]] bool IsVertexHost(std::string_view host);

/// Also names of the front for users' own commands (`trainyard with`): accounts, projects, services and
/// regions, which programs in replicas may not ask this server about.
inline constexpr std::array<std::string_view, 5> kUsersHosts = {
    "cloudresourcemanager.googleapis.com", "compute.googleapis.com", "iam.googleapis.com",
    "iamcredentials.googleapis.com", "serviceusage.googleapis.com"};

}  // namespace trainyard::front
