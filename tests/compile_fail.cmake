# Checks that SOURCE does not compile, with an error that matches the regular expression MESSAGE,
# and that with -DFIXED it does. Usage:
#   cmake -DCOMPILER=g++ -DSOURCE=kernels/bugs/compile/float_peer.cpp -DMESSAGE=INT32
#         "-DINCLUDES=/path/to/root;/usr/include/eigen3" -P compile_fail.cmake
# The first of INCLUDES is ours; the others are system directories, whose warnings are none of ours.
foreach(name COMPILER SOURCE MESSAGE INCLUDES)
  if(NOT DEFINED ${name})
    message(FATAL_ERROR "compile_fail.cmake needs -D${name}=...")
  endif()
endforeach()

set(ENV{LC_ALL} C)  # messages in English, with ASCII quotes
list(POP_FRONT INCLUDES own_root)
set(command ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I${own_root})
foreach(directory IN LISTS INCLUDES)
  list(APPEND command -isystem ${directory})
endforeach()

execute_process(COMMAND ${command} ${SOURCE} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result MATCHES "^[0-9]+$")
  message(FATAL_ERROR "cannot run ${COMPILER}: ${result}")
endif()
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles; it must fail with \"${MESSAGE}\"")
endif()
if(NOT errors MATCHES "${MESSAGE}")
  message(FATAL_ERROR "${SOURCE} fails without \"${MESSAGE}\":\n${errors}")
endif()

execute_process(COMMAND ${command} -DFIXED ${SOURCE} RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile with -DFIXED:\n${errors}")
endif()
