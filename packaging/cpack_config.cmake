# For cpack, run by make_deb.sh, which says by variables of the environment: STAGE (the files as they are installed), CONTROL (the
# maintainer scripts), MAINTAINER, VERSION and COMPRESSION.
foreach(told STAGE CONTROL MAINTAINER VERSION COMPRESSION)
  set(${told} "$ENV{${told}}")
endforeach()
set(CPACK_PACKAGE_VERSION "${VERSION}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME trainyard)
set(CPACK_PACKAGE_VENDOR Trainyard)
set(CPACK_PACKAGE_CONTACT "${MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_NAME trainyard)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${MAINTAINER}")
set(CPACK_DEBIAN_COMPRESSION_TYPE ${COMPRESSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "training service that speaks the API of AI Platform Training")
set(CPACK_PACKAGE_DESCRIPTION "Trainyard runs machine-learning jobs on your own Linux machine. It
queues jobs, gives each its own GPUs, builds Python environments, runs
containers, tunes hyperparameters, keeps logs and models, and says why a
job failed. Clients of Google's AI Platform Training (ml v1) work
unmodified.
.
It is installed as two services: the server, which can be restarted and
upgraded while jobs run, and the jobs.")
# Pairs of a folder and where it goes.
set(CPACK_INSTALLED_DIRECTORIES "${STAGE};.")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "init-system-helpers (>= 1.51), python3-venv")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "crun | runc, skopeo, uidmap, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "podman, bash-completion")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${CONTROL}/postinst;${CONTROL}/prerm;${CONTROL}/postrm;${CONTROL}/conffiles")
set(CPACK_TOPLEVEL_TAG deb)
set(CPACK_PACKAGE_FILE_NAME trainyard)
