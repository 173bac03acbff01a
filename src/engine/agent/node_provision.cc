#include "engine/agent/node_provision.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "engine/local/google_front_files.h"
#include "programs/environment/site_hook.h"

namespace trainyard::agent {

namespace {

Status WriteDefinition(const std::string& folder, const std::string& name, const std::string& contents) {
  const bool is_name = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
                       name.find('\0') == std::string::npos;
  if (!is_name)
    return std::unexpected(
        InvalidArgument("runtime_definitions", "the server sent a definition without a file's name"));
  const std::string path = folder + "/" + name;
  if (const auto present = ReadFile(path); present && *present == contents) return {};
  return WriteFileAtomically(path, contents);
}

}  // namespace

Status ProvisionEnvironments(const std::string& environments_dir,
                             const std::map<std::string, std::string>& definitions) {
  TY_RETURN_IF_ERROR(MakeFolders(environments_dir));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(environments_dir));
  if (definitions.empty()) return {};
  const std::string folder = environments_dir + "/runtimes.d";
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [name, contents] : definitions)
    TY_RETURN_IF_ERROR(WriteDefinition(folder, name, contents));
  return {};
}

Result<replica::v1::GoogleFront> ProvisionFront(const v1::ToAgent::Welcome& welcome,
                                                const FrontPlaces& places) {
  if (welcome.ca_certificate_pem().empty())
    return std::unexpected(InvalidArgument("ca_certificate_pem", "the server sent no authority to trust"));
  TY_RETURN_IF_ERROR(MakeFolders(places.dir));
  // Whatever the umask is: in a pod, a job's own container may have another user.
  if (::chmod(places.dir.c_str(), 0755) != 0)
    return std::unexpected(ErrnoError(errno, "chmod " + places.dir));
  const std::string authority = places.dir + "/authority.pem";
  const std::string bundle = places.dir + "/ca-bundle.pem";
  TY_RETURN_IF_ERROR(ReplaceFile(authority, welcome.ca_certificate_pem()));
  TY_RETURN_IF_ERROR(engine::WriteGoogleFrontFiles(
      {.authority = authority, .folder = places.dir, .bundle = bundle, .project = welcome.project()}));
  replica::v1::GoogleFront told = places.where;
  told.set_ca_bundle(bundle);
  *told.mutable_host_names() = welcome.front_host_names();
  if (welcome.buckets_dir().empty()) return told;
  if (places.gcs_lacking.empty()) {
    told.set_buckets_dir(welcome.buckets_dir());
  } else {
    Diagnose(DiagnosticLevel::kWarning,
             "replicas will not see the buckets as files below /gcs: " + places.gcs_lacking);
  }
  return told;
}

}  // namespace trainyard::agent
