#include "api/vertex/job_collections.h"
#include "api/vertex/vertex_tables.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"

namespace trainyard::api {
namespace {

using iam::Ask;
using enum iam::AuditKind;
using enum iam::Scope;
namespace aip = google::cloud::aiplatform::v1;

constexpr Route kModelRoutes[] = {
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/models",
         "aiplatform.models.list", "google.cloud.aiplatform.v1.ModelService.ListModels", kDataRead),
     kOutsideOnly, Ml<aip::ListModelsResponse>("filter orderBy pageSize pageToken readMask"),
     kCall<ListModels>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/models/{number}",
         "aiplatform.models.get", "google.cloud.aiplatform.v1.ModelService.GetModel", kDataRead),
     kOutsideOnly, Ml<aip::Model>(), kCall<GetModel>},
};

}  // namespace

std::span<const Route> VertexModelRoutes() { return kModelRoutes; }

}  // namespace trainyard::api
