/* All of liblimpet's headers. A program that embeds it compiles and links with the flags that
 * `pkg-config --cflags --libs limpet` prints; docs/examples/embed.c is a small example.
 *
 *     dataset.h    DATA as users name it: archives, directories, foreign files      begin here
 *     diagnose.h   from data to a verdict, in one call
 *     engine.h     the same, for data that keeps arriving
 *     options.h    the options of both
 *     verdict.h    which components limp, since when, why
 *     table.h      one metric of many components on one time grid
 *     metric.h     how metrics are computed from raw columns
 *     source.h     anything that can be read as batches
 *     batch.h      some samples of some components, as raw columns
 *     catalogue.h  schemas (raw columns) and components
 *     identity.h   what names a component: observer, kind, name, labels
 *     archive.h    limpet's own files: write, read, verify, repair
 *     log.h        records in such files that fit no time grid: system calls
 *     err.h        errors and warnings
 */
#ifndef LIMPET_LIMPET_H
#define LIMPET_LIMPET_H

#include <limpet/archive.h>
#include <limpet/batch.h>
#include <limpet/catalogue.h>
#include <limpet/dataset.h>
#include <limpet/diagnose.h>
#include <limpet/engine.h>
#include <limpet/err.h>
#include <limpet/identity.h>
#include <limpet/log.h>
#include <limpet/metric.h>
#include <limpet/options.h>
#include <limpet/source.h>
#include <limpet/table.h>
#include <limpet/verdict.h>

#endif
