#include <limpet/source.h>

int lp_source_next(struct lp_source *s, struct lp_batch **ret_batch, struct lp_err *err)
{
	return s->ops->next(s, ret_batch, err);
}

void lp_source_close(struct lp_source *s)
{
	if (s)
		s->ops->close(s);
}
