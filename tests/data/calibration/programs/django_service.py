# SPDX-License-Identifier: GPL-3.0-or-later
"""A service of Django below gunicorn, with its templates and an SQLite database in memory."""
import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse
from django.template import Context, Template
from django.urls import path

import work

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="calibration",
                   TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
                   MIDDLEWARE=["django.middleware.common.CommonMiddleware", "django.middleware.gzip.GZipMiddleware"])
django.setup()
page = Template("{% for order in orders %}<tr class='{% cycle 'odd' 'even' %}'><td>{{ order.id }}</td><td>{{ order.name|title }}</td>"
                "<td>{{ order.price|floatformat:2 }}</td></tr>{% endfor %}")


def render(request):
    return HttpResponse(page.render(Context({"orders": work.ORDERS[:12]})))


def parse(request):
    return HttpResponse(work.parse())


def orders(request):
    return JsonResponse(work.ORDERS[:40], safe=False)


urlpatterns = [path("render", render), path("parse", parse), path("orders", orders)]
application = get_wsgi_application()
