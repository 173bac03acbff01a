#include "programs/runtimes/google_channels.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/async/file.h"
#include "base/wire/host_name.h"

namespace trainyard::replica {

namespace {

/// Variables that name such a file: Python's requests and ssl, httplib2, Node, gcloud.
constexpr std::array<const char*, 5> kCaVariables = {"REQUESTS_CA_BUNDLE", "SSL_CERT_FILE",
                                                     "HTTPLIB2_CA_CERTS", "NODE_EXTRA_CA_CERTS",
                                                     "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"};

bool IsFolder(const char* path) {
  struct stat found{};
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/// The path without symbolic links; empty if it does not exist.
std::string Real(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  return realpath(path.c_str(), real.data()) != nullptr ? real.data() : "";
}

/// The metadata server's name for this replica; empty: it has none.
std::string MetadataName(const v1::GoogleFront& front) {
  for (const std::string& name : front.host_names()) {
    if (name.ends_with(wire::kMetadataSuffix)) return name;
  }
  return {};
}

std::string ServerUrl(const v1::Manifest& manifest) {
  const auto found = manifest.environment().find("STORAGE_EMULATOR_HOST");
  return found == manifest.environment().end() ? std::string() : found->second;
}

}  // namespace

const std::vector<std::string>& SystemCaBundles() {
  static const std::vector<std::string> kPlaces = {
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Alpine
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
      "/etc/pki/tls/certs/ca-bundle.crt",                   // the same, older
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/ssl/cert.pem"};                                 // Alpine
  return kPlaces;
}

std::vector<std::string> JavaTrustStores(const std::string& java_home, const std::string& path) {
  std::vector<std::string> homes = {java_home};
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string java = Real(path.substr(begin, end - begin) + "/java");
    if (java.ends_with("/bin/java")) homes.push_back(FolderOf(FolderOf(java)));
    begin = end + 1;
  }
  for (const std::filesystem::path& home : PathsIn("/usr/lib/jvm")) homes.push_back(home.string());
  std::vector<std::string> stores;
  const auto add = [&stores](const std::string& place) {
    const std::string real = Real(place);
    if (!real.empty() && std::ranges::find(stores, real) == stores.end()) stores.push_back(real);
  };
  for (const char* place : {"/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts"}) add(place);
  for (const std::string& home : homes) {
    if (home.empty()) continue;
    for (const char* place : {"/lib/security/cacerts", "/jre/lib/security/cacerts"}) add(home + place);
  }
  return stores;
}

Channels FindChannels(const v1::Manifest& manifest, bool has_view) {
  if (!manifest.has_google_front()) return {};
  const v1::GoogleFront& front = manifest.google_front();
  const bool leads = (has_view || front.has_names()) && !front.address().empty();
  return {.names = leads && !Real(front.ca_bundle()).empty(),
          .files = has_view && !front.buckets_dir().empty()};
}

std::string MissingChannels(const v1::Manifest& manifest, bool has_view, const Channels& found,
                            const std::string& advice) {
  if (!manifest.has_google_front() || (found.names && found.files)) return {};
  const std::string files = std::string(kGcsFolder) + "/BUCKET";
  if (found.names && manifest.google_front().has_names())
    return "In a pod the buckets are not available as files (" + files + "); gs:// works.";
  if (found.names && !has_view)
    return "The buckets are not available as files (" + files +
           "): that needs a mount namespace, which this machine does not allow.";
  if (found.names)
    return "The buckets are not available as files (" + files +
           "): the server could not create their directory, or on a cluster's node does not know it "
           "(--node-buckets).";
  std::string line = "gs:// works here for google-cloud-storage, gcsfs, pandas and gcloud storage";
  line += found.files ? ", and the buckets are the files below " + files : "";
  line += "; not for TensorFlow, gsutil and others";
  line += found.files ? "" : ", nor as files (" + files + ")";
  if (has_view) return line + ": the server could not make a front for them (its log says why).";
  line += ": they need a mount namespace, which this machine does not allow";
  return line + (advice.empty() ? "." : "; " + advice + ".");
}

Variables ChannelVariables(const v1::Manifest& manifest, const Channels& found) {
  if (!manifest.has_google_front()) return {};
  const v1::GoogleFront& front = manifest.google_front();
  Variables variables = {{"GOOGLE_CLOUD_PROJECT", manifest.project()},
                         {"CLOUDSDK_CORE_PROJECT", manifest.project()},
                         {"CLOUDSDK_CORE_DISABLE_PROMPTS", "true"},
                         {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"}};
  if (!found.names) {
    if (const std::string url = ServerUrl(manifest); !url.empty()) {
      variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"] = url + "/storage/v1/";
      variables["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = "true";
    }
    return variables;
  }
  for (const char* name : kCaVariables) variables[name] = front.ca_bundle();
  const std::string folder = FolderOf(front.ca_bundle()) + "/";
  variables["CURL_CA_BUNDLE"] = folder + std::string(kOwnAuthority);
  variables["CURL_HOME"] = FolderOf(front.ca_bundle());
  variables["BOTO_CONFIG"] = folder + std::string(kBotoFile);
  if (const std::string name = MetadataName(front); !name.empty()) {
    variables["GCE_METADATA_HOST"] = name;
    variables["GCE_METADATA_ROOT"] = name;
    variables["GCE_METADATA_IP"] = front.address();
  }
  return variables;
}

Variables CommonChannelVariables(const v1::Manifest& manifest, const Channels& found) {
  if (!found.names) return {};
  Variables all = ChannelVariables(manifest, found);
  Variables common;
  const auto take = [&](const char* name) {
    if (const auto variable = all.find(name); variable != all.end()) common.insert(*variable);
  };
  for (const char* name : kCaVariables) take(name);
  for (const char* name : {"BOTO_CONFIG", "CURL_CA_BUNDLE", "CURL_HOME", "GCE_METADATA_IP"}) take(name);
  return common;
}

std::vector<FileView::Bind> JavaBinds(const std::string& folder, const std::vector<std::string>& stores) {
  const std::string ours = Real(folder + "/" + std::string(kJavaFile));
  std::vector<FileView::Bind> binds;
  if (ours.empty()) return binds;  // of an earlier server
  for (const std::string& store : stores) binds.push_back({.from = ours, .to = store, .read_only = true});
  return binds;
}

namespace {

/// The bucket's path without symbolic links; empty: it is no directory.
std::string BucketFolder(const v1::GoogleFront& front, const std::string& name) {
  struct stat place{};
  const std::string own = front.buckets_dir() + "/" + name;
  if (lstat(own.c_str(), &place) != 0 || !S_ISDIR(place.st_mode)) return {};
  const auto elsewhere = front.bucket_dirs().find(name);
  return Real(elsewhere == front.bucket_dirs().end() ? own : elsewhere->second);
}

std::string InGcs(const std::string& name) { return std::string(kGcsFolder) + "/" + name; }

std::string BucketPlaces(const v1::Manifest& manifest) { return manifest.places().attempt_dir() + "/gcs"; }

std::vector<FileView::Bind> PermittedBinds(const v1::Manifest& manifest) {
  std::vector<FileView::Bind> binds = {
      {.from = Real(BucketPlaces(manifest)), .to = kGcsFolder, .read_only = true, .data_only = true}};
  for (const v1::BucketRights::Bucket& bucket : manifest.buckets().buckets()) {
    const std::string real = BucketFolder(manifest.google_front(), bucket.name());
    if (real.empty()) continue;
    binds.push_back(
        {.from = real, .to = InGcs(bucket.name()), .read_only = bucket.read_only(), .data_only = true});
  }
  return binds;
}

}  // namespace

Status MakeBucketPlaces(const v1::Manifest& manifest) {
  if (!manifest.has_buckets()) return {};
  TY_RETURN_IF_ERROR(MakeFolders(BucketPlaces(manifest), 0755));
  for (const v1::BucketRights::Bucket& bucket : manifest.buckets().buckets())
    TY_RETURN_IF_ERROR(MakeFolders(BucketPlaces(manifest) + "/" + bucket.name(), 0755));
  return {};
}

std::vector<FileView::Bind> BucketBinds(const v1::Manifest& manifest) {
  if (manifest.has_buckets()) return PermittedBinds(manifest);
  const v1::GoogleFront& front = manifest.google_front();
  std::vector<FileView::Bind> binds = {
      {.from = Real(front.buckets_dir()), .to = kGcsFolder, .data_only = true}};
  for (const auto& [name, folder] : front.bucket_dirs()) {
    const std::string real = BucketFolder(front, name);
    if (!real.empty()) binds.push_back({.from = real, .to = InGcs(name), .data_only = true});
  }
  return binds;
}

std::vector<std::string> AddedFolders(const Channels& found) {
  return found.files && !IsFolder(kGcsFolder) ? std::vector<std::string>{kGcsFolder}
                                              : std::vector<std::string>();
}

std::vector<FileView::Bind> ChannelBinds(const v1::Manifest& manifest, const Channels& found) {
  const v1::GoogleFront& front = manifest.google_front();
  std::vector<FileView::Bind> binds;
  if (found.names) {
    const std::string bundle = Real(front.ca_bundle());
    std::vector<std::string> places;
    for (const std::string& place : SystemCaBundles()) {
      const std::string real = Real(place);
      if (!real.empty() && std::ranges::find(places, real) == places.end()) places.push_back(real);
    }
    for (const std::string& place : places) binds.push_back({.from = bundle, .to = place, .read_only = true});
    std::ranges::move(JavaBinds(FolderOf(bundle), JavaTrustStores("", "")), std::back_inserter(binds));
    // This also works if the data directory is below /tmp.
    const std::string folder = FolderOf(front.ca_bundle());
    binds.push_back({.from = FolderOf(bundle), .to = folder, .read_only = true});
  }
  if (found.files) std::ranges::move(BucketBinds(manifest), std::back_inserter(binds));
  return binds;
}

}  // namespace trainyard::replica
