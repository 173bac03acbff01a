#include "engine/agent/front_provision.h"

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "engine/local/google_front_files.h"

namespace trainyard::agent {

Result<replica::v1::GoogleFront> ProvisionFront(const v1::ToAgent::Welcome& welcome,
                                                const FrontPlaces& places) {
  if (welcome.ca_certificate_pem().empty())
    return std::unexpected(InvalidArgument("ca_certificate_pem", "the server sent no authority to trust"));
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
