#include "front/boto_file.h"

namespace trainyard::front {

std::string BotoFile(const std::string& ca_bundle, const std::string& project) {
  return "[Boto]\n"
         "ca_certificates_file = " +
         ca_bundle +
         "\n"
         "https_validate_certificates = True\n"
         "\n"
         "[GoogleCompute]\n"
         "service_account = default\n"
         "\n"
         "[GSUtil]\n"
         "default_project_id = " +
         project +
         "\n"
         "state_dir = /tmp/.gsutil\n"
         "software_update_check_period = 0\n";
}

}  // namespace trainyard::front
